import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol

/// The only way of requests to the store: proves who sent a request, determines its operation, and evaluates what its sender may do,
/// in one read of the database.
struct StoreAdmission {
    let store: ObjectStore
    let policy: any AccessPolicy
    let configuration: StoreServerConfiguration
    private let proven = ProvenRequests()

    /// The largest difference of a static key's request from the server's time if no limit is configured. Static keys do not expire,
    /// so a captured request would otherwise be valid forever.
    private static let clockSkew = Duration.minutes(15)
    private static let needsStaticKey = "Use a static key: see object_store.static_keys."

    init(store: ObjectStore, policy: any AccessPolicy, configuration: StoreServerConfiguration) {
        self.store = store
        self.policy = policy
        self.configuration = configuration
    }

    /// Returns an earlier request with the same signature, which need not be verified again.
    func proven(_ head: HTTPRequestHead) -> ProvenRequest? { proven.find(head) }

    /// Admits a request that is signed in its header or its query.
    func admit(
        _ head: HTTPRequestHead, to target: RequestTarget, in dialect: any StoreDialect
    ) throws -> StoreRequest {
        let signed = SignedRequest(method: head.method, target: target, fields: head.fields)
        let authentication = try dialect.authentication(of: signed)
        if (authentication.securityToken ?? "").isEmpty, let key = store.staticKey(id: authentication.accessKeyID) {
            return try admit(head, signed, authentication, by: key, in: dialect)
        }
        let (claims, secret) = try authentication.claims(
            of: signed, store, policy, maximumClockSkew: configuration.maximumClockSkew)
        head.notes.setCaller(claims)
        let signatures = authentication.chunkSignatures(secret)
        let operation: StoreOperation
        do {
            operation = try dialect.operation(of: signed)
        } catch {
            // Reported only to clients with valid credentials.
            _ = try access(claims)
            throw error
        }
        var request = StoreRequest(
            head: head, signed: signed, dialect: dialect, operation: operation, chunkSignatures: signatures)
        request.access = try access(
            claims, part: part(of: request), readsObject: request.readsObject, commitsSoon: request.commitsSoon)
        head.notes.operation = operation.name.rawValue
        guard operation.rule.isOfTemporaryCredentials else {
            throw StoreError.notImplemented(operation.name, Self.needsStaticKey)
        }
        proven.remember(head, authentication, dialect, target, operation, claims)
        return request
    }

    /// Admits a request whose signature was verified before.
    func admit(_ head: HTTPRequestHead, again known: ProvenRequest) throws -> StoreRequest {
        head.notes.setCaller(known.claims)
        head.notes.operation = known.operation.name.rawValue
        try Authentication.requireUnexpired(known.expiresAt, at: store.clock.now())
        let signed = SignedRequest(method: head.method, target: known.target, fields: head.fields)
        var request = StoreRequest(head: head, signed: signed, dialect: known.dialect, operation: known.operation)
        request.access = try access(known.claims, readsObject: request.readsObject)
        return request
    }

    private func admit(
        _ head: HTTPRequestHead, _ signed: SignedRequest, _ authentication: Authentication, by key: StaticKey,
        in dialect: any StoreDialect
    ) throws -> StoreRequest {
        try authentication.prove(
            signed, by: key.secret, now: store.clock.now(),
            maximumClockSkew: configuration.maximumClockSkew ?? Self.clockSkew)
        head.notes.setCaller(key)
        let operation = try dialect.operation(of: signed)
        head.notes.operation = operation.name.rawValue
        try dialect.rules.requireKnown(signed, operation.name)
        let request = StoreRequest(
            head: head, signed: signed, dialect: dialect, operation: operation, staticKey: key,
            chunkSignatures: authentication.chunkSignatures(key.secret))
        return try admit(request, by: key)
    }

    /// Evaluates the rights of a static key that has signed the request, or the policy of the form that it is.
    func admit(_ request: StoreRequest, by key: StaticKey) throws -> StoreRequest {
        guard let name = request.signed.target.bucket else { return request }
        guard let bucket = store.bucket(name, of: key) else {
            throw StoreError(
                .noSuchBucket, "The specified bucket does not exist. Buckets are configured with object_store.buckets.")
        }
        var admitted = request
        admitted.bucket = bucket
        guard let object = request.signed.target.key else { return admitted }
        admitted.access = try access(by: key, on: request.stored(object, in: bucket, for: key), request)
        return admitted
    }

    // MARK: Rights

    /// Evaluates the rights of temporary credentials.
    ///
    /// - Parameter commitsSoon: whether the request's own commit records the activity of the upload, if it may write.
    func access(
        _ claims: CredentialClaims, part: PartBody? = nil, readsObject: Bool = false, commitsSoon: Bool = false
    ) throws -> StoreAccess {
        guard store.clock.now() < claims.expiresAt else {
            throw StoreError(.securityTokenExpired, "The security token you provided has expired.")
        }
        let decided = try store.decide(claims, policy, part: part?.start, readsObject: readsObject)
        let missing = claims.operations.contains(.write) ? StoreError.noSuchUpload : .noSuchKey
        if commitsSoon, claims.operations.contains(.write), case .allowed(_, let needsActivity) = decided.decision {
            return StoreAccess(decided: decided, part: part, commitRecordsActivity: needsActivity)
        }
        try require(decided, else: missing)
        return StoreAccess(decided: decided, part: part)
    }

    /// - Parameter name: the object's stored key.
    private func access(by key: StaticKey, on name: String, _ request: StoreRequest) throws -> StoreAccess {
        let part = part(of: request)
        var access: StoreAccess
        if case .copyObject(let header, _) = request.operation.command {
            let source = Result { () throws(StoreError) in try self.name(ofSource: header, request, key) }
            let (destination, from) = try store.decide(key, on: name, copyOf: try? source.get(), policy)
            access = StoreAccess(decided: destination, source: source.map { _ in from })
        } else {
            access = StoreAccess(decided: try store.decide(key, on: name, policy, part: part?.start), part: part)
        }
        access.origin = request.origin
        request.head.notes.target = access.claims.target
        // A missing object counts as deleted. Any other request of an object that must not be revealed is for no object.
        if request.operation.name != .deleteObject { try require(access.decided, else: .noSuchKey) }
        return access
    }

    /// - Parameter missing: the error for an upload or object that does not exist.
    private func require(_ decided: DecidedAccess, else missing: StoreError) throws {
        switch decided.decision {
        case .denied: throw StoreError(.accessDenied, "These credentials are no longer valid.")
        case .noSuchUpload: throw missing
        case .allowed(_, let needsActivity), .readOnly(let needsActivity):
            if needsActivity { try store.recordActivity(decided.claims, policy) }
        }
    }

    /// Returns the body of the part that a request uploads or copies; `nil` for other requests.
    private func part(of request: StoreRequest) -> PartBody? {
        switch request.operation.command {
        case .uploadPart(let number, let id):
            let payload = Result { () throws(StoreError) in try request.payload() }
            let start = store.startPart(number, of: id, length: (try? payload.get())?.length)
            return PartBody(start: start, payload: payload)
        case .copyPart(let number, let id, _):
            // The length is known when the source is open.
            let start = store.startPart(number, of: id, length: nil)
            return PartBody(start: start, payload: .success(Payload(length: nil, checks: BodyChecks())))
        default: return nil
        }
    }

    // MARK: Sources of copies

    /// Evaluates the rights of a static key to the source of a part's copy.
    func source(_ header: CopySourceHeader, of request: StoreRequest, by key: StaticKey) throws -> DecidedAccess {
        try store.decide(key, on: name(ofSource: header, request, key), policy)
    }

    private func name(
        ofSource source: CopySourceHeader, _ request: StoreRequest, _ key: StaticKey
    ) throws(StoreError) -> String {
        guard let bucket = store.bucket(source.bucket, of: key) else {
            throw StoreError(.noSuchBucket, "The bucket of the copy's source does not exist.")
        }
        return try request.stored(source.key, in: bucket, for: key)
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
