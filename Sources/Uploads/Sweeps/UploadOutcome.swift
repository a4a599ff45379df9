package import Database

/// The result of an upload, as far as its bytes depend on it.
package enum UploadOutcome: Sendable, Hashable {
    case inProgress
    /// It got no object, and cannot get one any more: it was aborted, replaced by another attempt, or swept.
    case ended
    case completed

    /// Returns the outcome of an upload; `nil` without a record of it.
    package static func of(uploadID: String, in connection: ReadConnection) throws -> UploadOutcome? {
        try UploadRecords(connection).outcome(uploadID)
    }
}

extension UploadRecords {
    fileprivate func outcome(_ id: String) throws -> UploadOutcome? {
        let recorded = try connection.first(
            "SELECT state, is_swept, completed_size IS NOT NULL AS is_completed FROM uploads WHERE id = $1", id
        ) { row -> UploadOutcome in
            if row.bool("is_completed") { return .completed }
            return row.int64("state") == UploadRecord.State.current.rawValue && !row.bool("is_swept")
                ? .inProgress : .ended
        }
        if let recorded { return recorded }
        return try connection.hasRow("SELECT 1 FROM superseded_uploads WHERE id = $1", id) ? .ended : nil
    }
}
