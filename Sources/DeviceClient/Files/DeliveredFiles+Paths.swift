/// Searches for single files in the lines of the record.
extension DeliveredFiles {
    /// The latest version of a file that the gateway confirmed.
    struct Confirmed: Sendable, Hashable {
        let source: SourceIdentity
        /// CRC-64/XZ of the bytes; `nil` = unknown.
        let crc64: UInt64?
        /// Empty = unknown.
        let fileID: String
        /// Seconds since 1970, when the gateway confirmed it.
        let at: Int64

        /// The relation of a file at the same path to this one.
        func match(_ other: SourceIdentity) -> Match {
            guard (source.size, source.modified) == (other.size, other.modified) else { return .none }
            return (source.inode, source.changed) == (other.inode, other.changed) ? .same : .similar
        }
    }

    /// Returns the latest confirmed version of each file.
    ///
    /// - Parameter paths: absolute.
    func confirmed(at paths: Set<String>) throws(DeviceFolder.Failure) -> [String: Confirmed] {
        var found: [String: Confirmed] = [:]
        try forEachLine { line in
            guard paths.contains(line.path) else { return }
            let former = found[line.path]
            let crc64 = line.crc64.flatMap { UInt64($0) }
            // A line without an id repeats a file whose inode or status changed.
            let isRepeated = line.fileID.isEmpty && former?.source.size == line.size
            found[line.path] = Confirmed(
                source: line.source, crc64: crc64 ?? (isRepeated ? former?.crc64 : nil),
                fileID: isRepeated ? former?.fileID ?? "" : line.fileID,
                at: isRepeated ? former?.at ?? line.at : line.at)
        }
        return found
    }

    /// Returns the paths of the files that became these objects.
    func paths(ofFiles fileIDs: Set<String>) throws(DeviceFolder.Failure) -> [String: Set<String>] {
        guard !fileIDs.isEmpty else { return [:] }
        var found: [String: Set<String>] = [:]
        try forEachLine { line in
            if fileIDs.contains(line.fileID) { found[line.fileID, default: []].insert(line.path) }
        }
        return found
    }
}
