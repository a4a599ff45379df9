import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol

/// The requests of static keys: on any object below the key's prefix, and on its buckets.
extension StoreHandler {
    /// The largest difference of such a request's date if no limit is configured. Static keys do not expire, so a captured request
    /// would otherwise be valid forever.
    private static let clockSkew = Duration.minutes(15)

    func begin(
        _ head: HTTPRequestHead, _ request: SignedRequest, _ authentication: Authentication, by key: StaticKey,
        _ responses: StoreResponses
    ) throws -> HTTPDisposition {
        try authentication.prove(
            request, by: key.secret, now: store.clock.now(),
            maximumClockSkew: configuration.maximumClockSkew ?? Self.clockSkew)
        head.notes.setCaller(key)
        let operation = try responses.dialect.operation(of: request)
        head.notes.operation = operation.name.rawValue
        try responses.dialect.rules.requireKnown(request, operation.name)
        if case .listBuckets(let query) = operation.command {
            return .respond(responses.buckets(store.buckets(of: key), query, store))
        }
        guard let name = request.target.bucket else { throw StoreError.notImplemented(operation.name) }
        guard let bucket = store.bucket(name, of: key) else {
            throw StoreError(
                .noSuchBucket, "The specified bucket does not exist. Buckets are configured with object_store.buckets.")
        }
        var responses = responses
        responses.bucket = bucket
        let keyRequest = StaticKeyRequest(
            key: key, bucket: bucket, operation: operation, head: head, request: request,
            signatures: authentication.chunkSignatures(key.secret))
        guard let name = request.target.key else { return try perform(onBucket: keyRequest, responses) }
        return try perform(on: keyRequest.stored(name, in: bucket), keyRequest, responses)
    }

    /// - Parameter name: the object's stored key.
    private func perform(
        on name: String, _ keyRequest: StaticKeyRequest, _ responses: StoreResponses
    ) throws -> HTTPDisposition {
        let part = part(of: keyRequest, responses.dialect)
        let (claims, decision, exists) = try store.decide(keyRequest.key, on: name, policy, part: part?.start)
        keyRequest.head.notes.target = claims.target
        if keyRequest.operation.command == .deleteObject {
            return .respond(try delete(claims, decision, exists, keyRequest, responses))
        }
        var access: StoreAccess
        do {
            access = try StoreAccess(
                claims, decision, chunkSignatures: keyRequest.signatures, store: store, policy: policy)
        } catch let error as StoreError where error == .noSuchUpload {
            // An existing object that must not be revealed: the client has no upload.
            throw StoreError.noSuchKey
        }
        access.origin = keyRequest.origin
        switch keyRequest.operation.command {
        case .copyObject(let source, let checksum):
            return .respond(try copy(source, checksum, to: access, keyRequest, responses))
        case .copyPart(_, _, let source):
            guard let part else { throw StoreError.notImplemented(keyRequest.operation.name) }
            return .respond(try copy(source, toPart: part, access, keyRequest, responses))
        case .appendObject(let position):
            return try append(at: position, access, keyRequest, responses)
        case .objectProperty(let property):
            try access.requireRead()
            return .respond(try responses.property(property, of: access.claims, keyRequest.request, store, policy))
        case .putTags:
            let permit = try requireTags(access)
            let payload = try responses.dialect.payload(
                of: keyRequest.request, keyRequest.head.framing, keyRequest.signatures)
            let document = try DocumentBody(
                payload, store, maximumBytes: TagSet.maximumBytes, for: access.claims.workOwner)
            return body(payload, responses, take: document.receive, leave: {}) {
                try store.setTags(TagSet(xml: document.finish()), permit)
                return responses.empty(200)
            }
        case .deleteTags:
            try store.setTags(TagSet(), requireTags(access))
            return .respond(responses.empty(204))
        default:
            return try perform(keyRequest.operation, keyRequest.head, keyRequest.request, access, responses, part: part)
        }
    }

    private func requireTags(_ access: StoreAccess) throws -> WritePermit {
        guard DirectObject.isDirect(uploadID: access.claims.uploadID) else {
            throw StoreError(
                .accessDenied, "The tags of an upload are changed with the RPC UpdateObject, not with a static key."
            )
        }
        return try access.requireWrite(policy)
    }

    /// Returns the body of the part to be uploaded or copied; `nil` for other requests.
    private func part(of keyRequest: StaticKeyRequest, _ dialect: any StoreDialect) -> PartBody? {
        guard case .copyPart(let number, let id, _) = keyRequest.operation.command else {
            return part(
                of: .success(keyRequest.operation), keyRequest.head, keyRequest.request, keyRequest.signatures, dialect)
        }
        // The length is known when the source is open.
        let start = store.startPart(number, of: id, length: nil)
        return PartBody(start: start, payload: .success(Payload(length: nil, checks: BodyChecks())))
    }

    /// Deletes an object; a missing one counts as deleted.
    private func delete(
        _ claims: CredentialClaims, _ decision: AccessDecision, _ exists: Bool, _ keyRequest: StaticKeyRequest,
        _ responses: StoreResponses
    ) throws -> HTTPResponse {
        try keyRequest.requireWrite()
        guard case .allowed = decision else {
            throw StoreError.uploadIsReadOnly
        }
        let condition = try WriteCondition(keyRequest.head.fields)
        if exists || !condition.isNone {
            try store.delete(WritePermit(claims: claims, policy: policy, origin: keyRequest.origin), condition)
        }
        return responses.empty(204)
    }

    private func append(
        at position: Int64, _ access: StoreAccess, _ keyRequest: StaticKeyRequest, _ responses: StoreResponses
    ) throws -> HTTPDisposition {
        let permit = try access.requireWrite(policy)
        let payload = try responses.dialect.payload(
            of: keyRequest.request, keyRequest.head.framing, keyRequest.signatures)
        let append = try ObjectAppend(
            store, permit: permit, at: position, payload, header: header(of: keyRequest.request, responses.dialect))
        return body(payload, responses, take: append.receive, leave: append.abandon) {
            let object = try append.finish()
            var fields: HTTPFields = ["x-oss-next-append-position": String(object.size), "ETag": object.etag]
            fields = fields.appending(responses.dialect.fields(ofStored: object.crc64, object.checksum))
            return responses.empty(200, fields)
        }
    }
}
