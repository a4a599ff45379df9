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
        _ answers: StoreAnswers
    ) throws -> HTTPDisposition {
        try authentication.prove(
            request, by: key.secret, now: store.clock.now(),
            maximumClockSkew: configuration.maximumClockSkew ?? Self.clockSkew)
        head.notes.tell(of: key)
        let operation = try answers.dialect.operation(of: request)
        head.notes.operation = operation.name
        try answers.dialect.rules.requireKnown(request, operation)
        if case .listBuckets(let query) = operation {
            return .respond(answers.buckets(store.buckets(of: key), query, store))
        }
        guard let name = request.target.bucket else { throw StoreError.notImplemented(operation.name) }
        guard let bucket = store.bucket(name, of: key) else {
            throw StoreError(
                .noSuchBucket, "The specified bucket does not exist. Buckets are configured with object_store.buckets.")
        }
        var answers = answers
        answers.bucket = bucket
        let asked = StaticKeyRequest(
            key: key, bucket: bucket, operation: operation, head: head, request: request,
            signatures: authentication.chunkSignatures(key.secret))
        guard let name = request.target.key else { return try perform(onBucket: asked, answers) }
        return try perform(on: asked.stored(name, in: bucket), asked, answers)
    }

    /// - Parameter name: the object's stored key.
    private func perform(
        on name: String, _ asked: StaticKeyRequest, _ answers: StoreAnswers
    ) throws -> HTTPDisposition {
        let part = part(of: asked, answers.dialect)
        let (claims, decision, isThere) = try store.decide(asked.key, on: name, policy, part: part?.start)
        asked.head.notes.target = claims.target
        if asked.operation == .deleteObject {
            return .respond(try delete(claims, decision, isThere, asked, answers))
        }
        var access: StoreAccess
        do {
            access = try StoreAccess(
                claims, decision, chunkSignatures: asked.signatures, store: store, policy: policy)
        } catch let error as StoreError where error == .noSuchUpload {
            // An existing object that must not be revealed: the client has no upload.
            throw StoreError.noSuchKey
        }
        access.origin = asked.origin
        switch asked.operation {
        case .copyObject(let source, let checksum):
            return .respond(try copy(source, checksum, to: access, asked, answers))
        case .copyPart(_, _, let source):
            guard let part else { throw StoreError.notImplemented(asked.operation.name) }
            return .respond(try copy(source, toPart: part, access, asked, answers))
        case .appendObject(let position):
            return try append(at: position, access, asked, answers)
        case .objectProperty(let property):
            try access.requireRead()
            return .respond(try answers.property(property, of: access.claims, asked.request, store, policy))
        case .putTags:
            let permit = try requireTags(access)
            let payload = try answers.dialect.payload(of: asked.request, asked.head.framing, asked.signatures)
            let document = try DocumentBody(
                payload, store, maximumBytes: TagSet.maximumBytes, for: access.claims.workOwner)
            return body(payload, answers, take: document.receive, leave: {}) {
                try store.setTags(TagSet(xml: document.finish()), permit)
                return answers.empty(200)
            }
        case .deleteTags:
            try store.setTags(TagSet(), requireTags(access))
            return .respond(answers.empty(204))
        default:
            return try perform(asked.operation, asked.head, asked.request, access, answers, part: part)
        }
    }

    private func requireTags(_ access: StoreAccess) throws -> WritePermit {
        guard DirectObject.isOne(uploadID: access.claims.uploadID) else {
            throw StoreError(
                .accessDenied, "The tags of an upload are changed with the RPC UpdateObject, not with a static key."
            )
        }
        return try access.requireWrite(policy)
    }

    /// Returns the body of the part to be uploaded or copied; `nil` for other requests.
    private func part(of asked: StaticKeyRequest, _ dialect: any StoreDialect) -> PartBody? {
        guard case .copyPart(let number, let id, _) = asked.operation else {
            return part(of: .success(asked.operation), asked.head, asked.request, asked.signatures, dialect)
        }
        // The length is known when the source is open.
        let start = store.startPart(number, of: id, length: nil)
        return PartBody(start: start, payload: .success(Payload(length: nil, checks: BodyChecks())))
    }

    /// Deletes an object; a missing one counts as deleted.
    private func delete(
        _ claims: CredentialClaims, _ decision: AccessDecision, _ isThere: Bool, _ asked: StaticKeyRequest,
        _ answers: StoreAnswers
    ) throws -> HTTPResponse {
        try asked.requireWrite()
        guard case .allowed = decision else {
            throw StoreError.uploadIsReadOnly
        }
        let condition = try WriteCondition(asked.head.fields)
        if isThere || !condition.isNone {
            try store.delete(WritePermit(claims: claims, policy: policy, origin: asked.origin), condition)
        }
        return answers.empty(204)
    }

    private func append(
        at position: Int64, _ access: StoreAccess, _ asked: StaticKeyRequest, _ answers: StoreAnswers
    ) throws -> HTTPDisposition {
        let permit = try access.requireWrite(policy)
        let payload = try answers.dialect.payload(of: asked.request, asked.head.framing, asked.signatures)
        let append = try ObjectAppend(
            store, permit: permit, at: position, payload, header: header(of: asked.request, answers.dialect))
        return body(payload, answers, take: append.receive, leave: append.abandon) {
            let object = try append.finish()
            var fields: HTTPFields = ["x-oss-next-append-position": String(object.size), "ETag": object.etag]
            fields = fields.appending(answers.dialect.fields(ofStored: object.crc64, object.checksum))
            return answers.empty(200, fields)
        }
    }
}
