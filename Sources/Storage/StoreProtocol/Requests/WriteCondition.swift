package import HTTPTypes
import XML

/// The condition of a write. It is checked in the commit that makes the object, so that only one of several clients with the same
/// condition succeeds.
package struct WriteCondition: Sendable, Equatable {
    /// The existing object when the write commits.
    package struct Present {
        let etag: String
        /// The size in bytes.
        let size: Int64
        let isAppendable: Bool
        /// Names its data file: another one means that the object was replaced.
        let fileID: String

        package init(etag: String, size: Int64, isAppendable: Bool, fileID: String) {
            self.etag = etag
            self.size = size
            self.isAppendable = isAppendable
            self.fileID = fileID
        }
    }

    /// The source of a write at the time when it was read.
    private enum Source: Equatable {
        case nothing
        case file(String)
    }

    /// Nothing may be there: `If-None-Match: *`, answered with 412, or `x-oss-forbid-overwrite`, with 409.
    private var absent: StoreError.Code?
    /// The permitted ETags of the existing object; `*` = any.
    private var tags: [String]?
    /// For AppendObject: the required size of the existing object.
    private var position: Int64?
    /// AppendObject: what must still be there, because the new object begins with its bytes; `nil` = not read yet.
    private var source: Source?

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
        if fields["x-oss-forbid-overwrite"] != nil {
            // Repeated, the stricter one counts.
            for text in fields.values(of: "x-oss-forbid-overwrite") {
                switch text.lowercased() {
                case "true": absent = .fileAlreadyExists
                case "false": break
                default: throw StoreError(.invalidArgument, "x-oss-forbid-overwrite must be true or false.")
                }
            }
        }
        if let list = fields["if-match"] {
            tags = list.split(separator: ",").map { String($0).trimming { $0 == " " } }
        }
    }

    package var isNone: Bool { absent == nil && tags == nil && position == nil }

    /// This condition and that of an AppendObject which has read the file of `fileID`; `nil` = it found no object.
    package func and(appendAt position: Int64, toFile fileID: String?) -> WriteCondition {
        var both = self
        both.position = position
        both.source = fileID.map(Source.file) ?? .nothing
        return both
    }

    /// This condition and that of an AppendObject which has read nothing yet: the object is of that size and grows, or is
    /// not there and `position` is 0.
    package func and(appendAt position: Int64) -> WriteCondition {
        var both = self
        both.position = position
        return both
    }

    /// Both conditions, of writes that do not append.
    package func and(_ other: WriteCondition) -> WriteCondition {
        var both = self
        both.absent = absent ?? other.absent
        both.tags = tags ?? other.tags
        return both
    }

    package var forbidsOverwrite: Bool { absent == .fileAlreadyExists }

    /// - Parameters:
    ///   - present: what is at the key; `nil` = nothing, or nothing that can be read.
    ///   - isLost: whether the file of the object at the key is missing.
    package func check(_ present: Present?, isLost: Bool = false) throws(Violation) {
        if let absent, present != nil || isLost { throw .objectExists(forbidsOverwrite: absent == .fileAlreadyExists) }
        if let tags {
            guard let present else { throw .noObject }
            guard tags.contains(where: { $0 == "*" || ETag.matches($0, present.etag) }) else {
                throw .otherETag(present.etag)
            }
        }
        guard let position else { return }
        guard !isLost else { throw .fileIsMissing }
        if let present, !present.isAppendable { throw .notAppendable }
        let size = present?.size ?? 0
        guard position == size else { throw .wrongPosition(position, size: size) }
        guard let source, source != (present.map { .file($0.fileID) } ?? .nothing) else { return }
        throw .replaced(size: size)
    }

    /// The reason why an object, or its absence, does not fulfill a condition.
    package enum Violation: Error, Equatable {
        /// `forbidsOverwrite`: the condition is that of OSS.
        case objectExists(forbidsOverwrite: Bool)
        /// There is no object with an ETag.
        case noObject
        /// The value is the object's ETag.
        case otherETag(String)
        /// The object exists, but its file does not, so that nothing can be appended.
        case fileIsMissing
        case notAppendable
        /// The value is that of the request; `size` is the object's, in bytes.
        case wrongPosition(Int64, size: Int64)
        /// The object was replaced during an append by one of that size, in bytes.
        case replaced(size: Int64)
    }
}

/// The client's description of the whole object when it completes a multipart upload. `nil` = not given.
package struct ExpectedObject: Equatable, Sendable {
    package var size: Int64?
    package var checksum: Checksum?
    /// The condition on the replaced object.
    package var condition = WriteCondition.none

    package init(size: Int64? = nil, checksum: Checksum? = nil, condition: WriteCondition = .none) {
        self.size = size
        self.checksum = checksum
        self.condition = condition
    }
}
