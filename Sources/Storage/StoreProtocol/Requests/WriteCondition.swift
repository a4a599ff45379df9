import HTTPTypes

/// On which condition a write takes place. It is decided in the commit that makes the object, so that of any number of
/// clients with the same condition one wins.
package struct WriteCondition: Sendable, Equatable {
    /// What is there when the write commits.
    package struct Present {
        let etag: String
        /// Bytes.
        let size: Int64
        let isAppendable: Bool

        package init(etag: String, size: Int64, isAppendable: Bool) {
            self.etag = etag
            self.size = size
            self.isAppendable = isAppendable
        }
    }

    /// Nothing may be there: `If-None-Match: *`, answered with 412, or `x-oss-forbid-overwrite`, with 409.
    private var absent: StoreError.Code?
    /// One of these must be the ETag of what is there; `*` = any.
    private var tags: [String]?
    /// AppendObject: the size of what is there.
    private var position: Int64?

    package static let none = WriteCondition()

    private init() {}

    /// What OSS's `x-oss-forbid-overwrite` asks for.
    package static let forbidOverwrite: WriteCondition = {
        var condition = WriteCondition()
        condition.absent = .fileAlreadyExists
        return condition
    }()

    /// - Throws: `notImplemented` for an If-None-Match of something else than `*`, as with S3; `invalidArgument` for an
    ///   x-oss-forbid-overwrite that is neither true nor false.
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

    /// What AppendObject asks for: the object is of that size and grows, or is not there and `position` is 0.
    package init(appendAt position: Int64) {
        self.position = position
    }

    package var isNone: Bool { absent == nil && tags == nil && position == nil }

    /// Both conditions.
    package func and(_ other: WriteCondition) -> WriteCondition {
        var both = self
        both.absent = absent ?? other.absent
        both.tags = tags ?? other.tags
        return both
    }

    package var forbidsOverwrite: Bool { absent == .fileAlreadyExists }

    /// - Parameter present: what is at the key; `nil` = nothing.
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
