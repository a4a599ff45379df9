import Basics
import HTTPServer
import HTTPTypes
import ObjectStore
import StoreProtocol

/// The store's HTTP interface: authenticates a request, determines its operation, and executes it.
struct StoreHandler: HTTPRequestHandler {
    let store: ObjectStore
    let policy: any AccessPolicy
    let configuration: StoreServerConfiguration
    let log: Logger
    private let proven = ProvenRequests()

    func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
        let known = proven.find(head)
        let dialect = known?.dialect ?? dialect(of: head)
        var responses = StoreResponses(head, dialect, origins: configuration.corsOrigins)
        head.notes.dialect = dialect.name
        if head.method == "OPTIONS", head.fields["access-control-request-method"] != nil {
            head.notes.operation = "Preflight"
            return .respond(responses.preflight())
        }
        if head.method == "POST", let form = FormUpload(self, head, responses) { return .receive(form) }
        do {
            if let known { return try begin(head, again: known, responses) }
            let target = try RequestTarget(
                head.target, host: head.fields["host"] ?? "", domains: configuration.bucketDomains)
            // Clients that look for the region ask without a signature.
            responses.namesRegion =
                target.bucket != nil && target.key == nil && (head.method == "HEAD" || dialect.etags == .s3)
            let request = SignedRequest(method: head.method, target: target, fields: head.fields)
            let authentication = try dialect.authentication(of: request)
            if (authentication.securityToken ?? "").isEmpty, let key = store.staticKey(id: authentication.accessKeyID) {
                return try begin(head, request, authentication, by: key, responses)
            }
            let (claims, secret) = try authentication.claims(
                of: request, store, maximumClockSkew: configuration.maximumClockSkew)
            head.notes.setCaller(claims)
            let signatures = authentication.chunkSignatures(secret)
            // Its errors are reported only to clients with valid credentials.
            let parsed = Result { () throws(StoreError) in try dialect.operation(of: request) }
            let part = part(of: parsed, head, request, signatures, dialect)
            let access = try StoreAccess(
                claims, chunkSignatures: signatures, store: store, policy: policy, part: part?.start)
            let operation = try parsed.get()
            head.notes.operation = operation.name.rawValue
            guard operation.rule.isOfTemporaryCredentials else {
                throw StoreError.notImplemented(operation.name, Self.needsStaticKey)
            }
            proven.remember(head, authentication, dialect, target, operation, claims)
            return try perform(operation, head, request, access, responses, part: part)
        } catch {
            return .respond(failed(error, responses))
        }
    }

    private func begin(
        _ head: HTTPRequestHead, again known: ProvenRequest, _ responses: StoreResponses
    ) throws -> HTTPDisposition {
        head.notes.setCaller(known.claims)
        head.notes.operation = known.operation.name.rawValue
        try Authentication.requireUnexpired(known.expiresAt, at: store.clock.now())
        let access = try StoreAccess(known.claims, chunkSignatures: nil, store: store, policy: policy)
        let request = SignedRequest(method: head.method, target: known.target, fields: head.fields)
        return try perform(known.operation, head, request, access, responses)
    }

    private func dialect(of head: HTTPRequestHead) -> any StoreDialect {
        S3Dialect.isUsed(by: head) ? S3Dialect(publicAuthority: configuration.publicAuthority) : OSSDialect()
    }

    /// Returns the body of the part to upload; `nil` for other operations.
    func part(
        of operation: Result<StoreOperation, StoreError>, _ head: HTTPRequestHead, _ request: SignedRequest,
        _ signatures: ChunkSignatures?, _ dialect: any StoreDialect
    ) -> PartBody? {
        guard case .uploadPart(let number, let id)? = try? operation.get().command else { return nil }
        let payload = Result { () throws(StoreError) in try dialect.payload(of: request, head.framing, signatures) }
        let start = store.startPart(number, of: id, length: (try? payload.get())?.length)
        return PartBody(start: start, payload: payload)
    }

    /// - Parameter part: the part, if the operation uploads one.
    func perform(
        _ operation: StoreOperation, _ head: HTTPRequestHead, _ request: SignedRequest, _ access: StoreAccess,
        _ responses: StoreResponses, part: PartBody? = nil
    ) throws -> HTTPDisposition {
        let dialect = responses.dialect
        switch operation.command {
        case .getObject, .headObject:
            try access.requireRead()
            let overrides = try ResponseOverrides(request.target)
            return try store.withObject(access.claims) { object in
                if operation.command == .getObject { try object.requireIntact() }
                let part = try objectPart(of: object, request)
                let options = dialect.options(of: request)
                return .respond(try responses.object(object, store, requestFields: options, overrides, part: part))
            }
        case .listParts(let id, let marker, let limit):
            try access.requireRead()
            let page = try store.listParts(id, access.claims, after: marker, limit: limit)
            return .respond(
                responses.parts(page, of: id, request.target, access.claims, after: marker, limit: limit))
        case .initiateMultipart(let checksum):
            let permit = try access.requireWrite(policy)
            let multipart = try store.initiateMultipart(permit, header(of: request, dialect), checksum: checksum)
            return .respond(responses.initiated(multipart, request.target))
        case .abortMultipart(let id):
            // 404 takes precedence over 403: a client without the response of its Complete sends this with any credentials.
            _ = try store.openMultipart(id, access.claims)
            _ = try access.requireWrite(policy)
            try store.abortMultipart(id, access.claims)
            return .respond(responses.empty(204))
        case .putObject:
            let permit = try access.requireWrite(policy)
            let payload = try dialect.payload(of: request, head.framing, access.chunkSignatures)
            let put = try ObjectPut(
                store, permit: permit, length: payload.length, checks: payload.checks,
                header: try header(of: request, dialect))
            return body(payload, responses, take: put.receive, leave: put.abandon) {
                let object = try put.finish()
                return responses.stored(etag: object.etag, crc64: object.crc64, object.checksum)
            }
        case .uploadPart:
            // Uploads of parts are never cached as proven requests.
            guard let part else { throw StoreError.notImplemented(operation.name) }
            let permit = try access.requireWrite(policy)
            let payload = try part.payload.get()
            let upload = try PartUpload(store, permit: permit, start: part.start, checks: payload.checks)
            return body(payload, responses, take: upload.receive, leave: upload.abandon) {
                let record = try upload.finish()
                let etag = ETag.whole(md5: record.md5, dialect.etags)
                return responses.stored(etag: etag, crc64: record.crc64, record.checksum)
            }
        case .completeMultipart(let id, let all, let expected):
            _ = try completed(id, access)
            let payload = try dialect.payload(of: request, head.framing, access.chunkSignatures)
            let document = try DocumentBody(
                payload, store, maximumBytes: CompletionList.maximumBytes, for: access.claims.workOwner)
            let permit = WritePermit(claims: access.claims, policy: policy, origin: access.origin)
            return body(payload, responses, take: document.receive, leave: {}) {
                // It may have been aborted, or completed by another request, while the document arrived.
                let done = try completed(id, access)
                let list = all ? nil : try CompletionList(xml: document.finish())
                if let done { return responses.completed(done) }
                return responses.completed(
                    try store.completeMultipart(id, list, permit, etags: dialect.etags, expected: expected))
            }
        case .appendObject, .copyObject, .copyPart, .deleteObject, .objectProperty, .putTags, .deleteTags, .postObject,
            .listBuckets, .headBucket, .createBucket, .deleteBucket, .bucketProperty, .listObjects, .listMultiparts,
            .deleteObjects:
            // Temporary credentials are for one object, and do not permit its deletion; a static key's requests are handled
            // elsewhere.
            throw StoreError.notImplemented(operation.name, Self.needsStaticKey)
        }
    }

    /// Returns the object of a completed multipart upload; `nil` while it is open.
    ///
    /// Refuses an upload that does not exist, and an open one that the credentials may not write. Called before the document of a
    /// Complete is received, and again before it is parsed.
    private func completed(_ id: String, _ access: StoreAccess) throws -> StoredObject? {
        if let done = try store.completed(id, access.claims) { return done }
        _ = try access.requireWrite(policy)
        return nil
    }

    private static let needsStaticKey = "Use a static key: see object_store.static_keys."

    /// Returns the properties of the new object in a request.
    func header(of request: SignedRequest, _ dialect: any StoreDialect) throws -> ObjectHeader {
        let fields = dialect.options(of: request)
        return ObjectHeader(
            contentType: request.fields["content-type"].flatMap { $0.isEmpty ? nil : $0 },
            kept: try KeptFields(fields, dialect.names),
            condition: try WriteCondition(fields), etags: dialect.etags)
    }

    /// Returns the part that a GET or HEAD requests; `nil` = the whole object.
    private func objectPart(of object: StoredObject, _ request: SignedRequest) throws -> ObjectPart? {
        guard request.target.has("partNumber") else { return nil }
        guard request.fields["range"] == nil else {
            throw StoreError(.invalidRequest, "A request with a partNumber must not have a Range field.")
        }
        guard let number = request.target["partNumber"].flatMap({ Int(decimal: $0) }), (1...10_000).contains(number)
        else {
            throw ObjectStoreError.invalidPartNumber
        }
        let parts = try store.parts(of: object)
        guard number <= max(1, parts.count) else {
            throw StoreError(.invalidPartNumber, "The object's number of parts is \(max(1, parts.count)).")
        }
        // A range cannot be empty: an empty object is sent without a range.
        guard object.size > 0 else { return nil }
        guard !parts.isEmpty else { return ObjectPart(range: 0..<object.size, count: 1, checksum: object.checksum) }
        let start = parts.prefix(number - 1).reduce(0) { $0 + $1.size }
        let part = parts[number - 1]
        return ObjectPart(range: start..<start + part.size, count: parts.count, checksum: part.checksum)
    }

    func body(
        _ payload: Payload, _ responses: StoreResponses, take: @escaping (UnsafeRawBufferPointer) -> Void,
        leave: @escaping () -> Void, complete: @escaping () throws -> HTTPResponse
    ) -> HTTPDisposition {
        let respond: (() throws -> HTTPResponse) -> HTTPResponse = { complete in
            do {
                return try complete()
            } catch {
                return failed(error, responses)
            }
        }
        switch payload.framing {
        case .plain:
            return .receive(StoreBody(take: take, complete: { respond(complete) }, leave: leave))
        case .chunks(let reader):
            var failure: (any Error)?
            return .receive(
                StoreBody(
                    take: { piece in
                        guard failure == nil else { return }
                        do { try reader.read(piece, take) } catch { failure = error }
                    },
                    complete: {
                        respond {
                            // An upload that the chunks end early is abandoned.
                            defer { leave() }
                            if let failure { throw failure }
                            try reader.finish()
                            return try complete()
                        }
                    }, leave: leave))
        }
    }

    func failed(_ error: any Error, _ responses: StoreResponses) -> HTTPResponse {
        let failure = StoreError(error)
        switch failure.code {
        case .quotaExceeded: configuration.daemon.metrics.limitReached("quota")
        // The client requested an unsupported operation.
        case .notImplemented: break
        case .slowDown: configuration.daemon.metrics.limitReached("buffer_bytes")
        // Another request of the same client came in between.
        case _ where error is WritesInFlight.Revoked: break
        case _ where failure.code.status >= 500:
            responses.log(log).write("a request to the object store failed", ["error": "\(error)"], level: .error)
        default: break
        }
        return responses.error(failure)
    }
}

extension HTTPRequestNotes {
    /// Notes whose credentials prove a request, and waits until the server may work for them.
    fileprivate func setCaller(_ claims: CredentialClaims) {
        target = claims.target
        setCaller(claims.subject, owner: claims.workOwner)
    }

    /// Notes that a request is proven by a static key, and waits until the server may work for it.
    func setCaller(_ key: StaticKey) { setCaller(.staticKey(id: key.id), owner: .staticKey(key.id)) }

    private func setCaller(_ subject: CredentialClaims.Subject, owner: WorkOwner) {
        principal = subject.name
        works(for: owner)
    }
}
