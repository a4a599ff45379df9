import Database
package import StoreProtocol

/// The properties of a new object in its request, besides its bytes.
package struct ObjectHeader: Sendable {
    package var contentType: String?
    package var kept: KeptFields
    /// Checked in the commit.
    package var condition: WriteCondition
    /// The form of the object's ETag.
    package var etags: ETag.Form
    /// Whether the object keeps the fields and tags that the one before it has when this one commits.
    var inheritsKept = false

    package init(
        contentType: String? = nil, kept: KeptFields = .none, condition: WriteCondition = .none, etags: ETag.Form = .oss
    ) {
        self.contentType = contentType
        self.kept = kept
        self.condition = condition
        self.etags = etags
    }
}

extension WriteCondition {
    /// Checks the condition, before a body is received and in the commit.
    ///
    /// - Throws: `conditionFailed`.
    func check(bucket: String, key: String, _ records: StoreRecords<some ReadConnection>) throws {
        // Most writes have no condition, and need no read.
        guard !isNone else { return }
        let present = try records.object(bucket: bucket, key: key).map {
            Present(etag: $0.etag, size: $0.size, isAppendable: $0.kept.isAppendable, fileID: $0.fileID)
        }
        // A missing file may come back: the object was acknowledged, so it is there for who must not replace it.
        let isLost = try present == nil && records.isObjectLost(bucket: bucket, key: key)
        do throws(Violation) {
            try check(present, isLost: isLost)
        } catch {
            throw ObjectStoreError.conditionFailed(error)
        }
    }
}
