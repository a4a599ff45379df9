import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol

/// CopyObject and UploadPartCopy.
extension StoreHandler {
    func copy(
        _ header: CopySourceHeader, _ checksum: ChecksumAlgorithm?, _ request: StoreRequest,
        _ responses: StoreResponses
    ) throws -> HTTPResponse {
        let permit = try permit(request)
        let access = try request.requiredAccess
        let source = try readable(access.source?.get(), request)
        let dialect = request.dialect
        let directives = try CopyDirectives(request.signed, dialect)
        let isItself = source.claims.key == access.claims.key && source.claims.bucket == access.claims.bucket
        guard !isItself || directives.changesSomething || checksum != nil || dialect.etags == .oss else {
            throw StoreError(
                .invalidRequest,
                """
                CopyObject: the object would be copied to itself without a change. Set \(dialect.names.metadataDirective): \
                REPLACE to change its metadata.
                """)
        }
        let asks = try request.header()
        // OSS takes a copy of an object to itself for a change of its metadata.
        let replaces = isItself && dialect.etags == .oss
        let object = try store.copy(
            source, to: permit, conditions: Preconditions(header.conditions), checksum: checksum,
            excess: access.decided.excess
        ) { found in
            directives.header(of: found, asks, replaces: replaces)
        }
        return responses.copied(
            "CopyObjectResult", etag: object.etag, at: object.createdAt, crc64: object.crc64, object.checksum)
    }

    /// Copies a part. Its bytes are read, although they do not leave the gateway, because a part has its own checksum.
    func copyPart(
        _ header: CopySourceHeader, _ request: StoreRequest, _ responses: StoreResponses
    ) throws -> HTTPResponse {
        guard let key = request.staticKey, let part = request.access?.part else {
            throw StoreError.notImplemented(request.operation.name)
        }
        let permit = try permit(request)
        let source = try readable(admission.source(header, of: request, by: key), request)
        return try store.withObject(source) { object in
            try object.requireIntact()
            try Preconditions(header.conditions).require(of: object)
            let range = header.range.map { $0.lowerBound..<$0.upperBound + 1 } ?? 0..<object.size
            guard range.upperBound <= object.size else {
                throw StoreError(
                    .invalidArgument,
                    "UploadPartCopy: the range ends after the source, which has \(object.size) bytes.")
            }
            let upload = try PartUpload(
                store, permit: permit, start: part.start, checks: BodyChecks(), length: Int64(range.count))
            try store.read(object, range, upload.append)
            let record = try upload.finish()
            return responses.copied(
                "CopyPartResult", etag: ETag.whole(md5: record.md5, responses.dialect.etags), at: record.storedAt,
                crc64: record.crc64, record.checksum)
        }
    }

    /// Returns the source of a copy if its existence may be revealed.
    private func readable(_ source: DecidedAccess?, _ request: StoreRequest) throws(StoreError) -> DecidedAccess {
        request.head.notes.source = source?.claims.location
        guard let source, source.object != nil, source.decision.isVisible else {
            throw StoreError(.noSuchKey, "CopyObject: the source of the copy does not exist.")
        }
        return source
    }
}

/// The directives that decide which fields a copy takes from its source and which from its request.
private struct CopyDirectives: Sendable {
    private let replacesMetadata: Bool
    private let replacesTags: Bool

    init(_ request: SignedRequest, _ dialect: any StoreDialect) throws(StoreError) {
        let fields = dialect.options(of: request)
        func replaces(_ name: String) throws(StoreError) -> Bool {
            switch fields[name]?.uppercased() {
            case nil, "COPY": return false
            case "REPLACE": return true
            default: throw StoreError(.invalidArgument, "\(name) must be COPY or REPLACE.")
            }
        }
        replacesMetadata = try replaces(dialect.names.metadataDirective)
        replacesTags = try replaces(dialect.names.taggingDirective)
    }

    var changesSomething: Bool { replacesMetadata || replacesTags }

    /// - Parameter replaces: whether the metadata is the request's, independent of the directive.
    func header(of source: StoredObject, _ asks: ObjectHeader, replaces: Bool) -> ObjectHeader {
        var header = asks
        if !replacesMetadata, !replaces {
            header.contentType = source.contentType
            header.kept = source.served
        }
        header.kept.tags = replacesTags ? asks.kept.tags : source.kept.tags
        header.kept.isAppendable = false
        return header
    }
}
