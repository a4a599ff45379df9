import HTTPTypes

/// The condition of a write. It is checked in the commit that makes the object, so that only one of several clients with the same
/// condition succeeds.
package struct WriteCondition: Sendable, Equatable {
    /// The existing object when the write commits.
    package struct Present {
        let etag: String
        /// The size in bytes.
        let size: Int64
        let isAppendable: Bool

        package init(etag: String, size: Int64, isAppendable: Bool) {
            self.etag = etag
            self.size = size
            self.isAppendable = isAppendable
        }
    }

    /// The error if an object exists: 412 for `If-None-Match: *`, 409 for `x-oss-forbid-overwrite`.
    private var absent: StoreError.Code?
    /// The permitted ETags of the existing object; `*` = any.
    private var tags: [String]?
    /// For AppendObject: the required size of the existing object.
    private var position: Int64?

    package static let none = WriteCondition()

    private init() {}

    /// The condition of OSS's `x-oss-forbid-overwrite`.
    package static let forbidOverwrite: WriteCondition = {
        var condition = WriteCondition()
        condition.absent = .fileAlreadyExists
        return condition
    }()

    /// - Throws: `notImplemented` for an If-None-Match other than `*`, like S3; `invalidArgument` for an x-oss-forbid-overwrite
    ///   that is neither true nor false.
    package init(_ fields: HTTPFields) throws(StoreError) {
        if let tag = fields["if-none-match"] {
            guard tag == "*" || tag == "\"*\"" else {
                throw .notImplemented("If-None-Match with an ETag on a write", "Use If-None-Match: *.")
            }
            absent = .preconditionFailed
        }
        if let forbids = fields["x-oss-forbid-overwrite"]?.lowercased() {
            guard ["true", "false"].contains(forbids) else {
                throw StoreError(.invalidArgument, "x-oss-forbid-overwrite must be true or false.")
            }
            if forbids == "true" { absent = .fileAlreadyExists }
        }
        if let list = fields["if-match"] {
            tags = list.split(separator: ",").map { String($0).trimming { $0 == " " } }
        }
    }

    /// The condition of AppendObject: the object has that size and is appendable, or does not exist and `position` is 0.
    package init(appendAt position: Int64) {
        self.position = position
    }

    package var isNone: Bool { absent == nil && tags == nil && position == nil }

    /// Returns the conjunction of both conditions.
    package func and(_ other: WriteCondition) -> WriteCondition {
        var both = self
        both.absent = absent ?? other.absent
        both.tags = tags ?? other.tags
        return both
    }

    package var forbidsOverwrite: Bool { absent == .fileAlreadyExists }

    /// - Parameter present: the existing object; `nil` = none.
    /// - Throws: `preconditionFailed`, `fileAlreadyExists`, `noSuchKey`, `objectNotAppendable`, `positionNotEqualToLength`.
    package func check(_ present: Present?) throws(StoreError) {
        if let absent, present != nil {
            throw absent == .fileAlreadyExists
                ? StoreError(.fileAlreadyExists, "The object exists already, and the request forbids to overwrite it.")
                : StoreError(.preconditionFailed, "The object exists already, and the request has If-None-Match: *.")
        }
        if let tags {
            guard let present else {
                throw StoreError(.noSuchKey, "The request has If-Match, but the key does not exist.")
            }
            guard tags.contains(where: { $0 == "*" || ETag.matches($0, present.etag) }) else {
                throw StoreError(
                    .preconditionFailed, "The object's ETag is \(present.etag), which If-Match does not name.")
            }
        }
        guard let position else { return }
        if let present, !present.isAppendable {
            throw StoreError(
                .objectNotAppendable, "The object was not made by AppendObject, so nothing can be appended.")
        }
        let size = present?.size ?? 0
        guard position == size else {
            throw StoreError(
                .positionNotEqualToLength, "AppendObject at position \(position), but the object has \(size) bytes.",
                details: [.init("ObjectSize", String(size))])
        }
    }
}
