import Basics
import Crypto
import HTTPTypes
import ObjectStore
import StoreProtocol
import XML

/// The sender of a request, and its rights to an object, decided when the header has arrived. A body may take longer than the
/// credentials are valid.
struct StoreAccess {
    let claims: CredentialClaims
    let decision: AccessDecision
    /// The verifier of the body's chunks, if they are signed.
    let chunkSignatures: ChunkSignatures?
    /// The request, where a static key signed it.
    var origin: WriteOrigin?

    /// Evaluates the rights of claims with a verified secret.
    init(
        _ claims: CredentialClaims, chunkSignatures: ChunkSignatures?, store: ObjectStore, policy: any AccessPolicy,
        part: PartStart? = nil
    ) throws {
        guard store.clock.now() < claims.expiresAt else {
            throw StoreError(.securityTokenExpired, "The security token you provided has expired.")
        }
        try self.init(
            claims, store.decide(claims, policy, part: part), chunkSignatures: chunkSignatures, store: store,
            policy: policy)
    }

    /// - Throws: if `decision` permits nothing.
    init(
        _ claims: CredentialClaims, _ decision: AccessDecision, chunkSignatures: ChunkSignatures?, store: ObjectStore,
        policy: any AccessPolicy
    ) throws {
        switch decision {
        case .denied: throw StoreError(.accessDenied, "These credentials are no longer valid.")
        // A reader knows the object but not its upload: for example a user with the URL of an object that was purged.
        case .noSuchUpload: throw claims.operations.contains(.write) ? StoreError.noSuchUpload : .noSuchKey
        case .allowed(_, let needsActivity), .readOnly(let needsActivity):
            if needsActivity { try store.recordActivity(claims, policy) }
        }
        self.claims = claims
        self.decision = decision
        self.chunkSignatures = chunkSignatures
    }

    func requireRead() throws(StoreError) {
        guard claims.operations.contains(.read) else { throw Self.notPermitted }
    }

    /// - Returns: the permission to confirm in the commit.
    func requireWrite(_ policy: any AccessPolicy) throws(StoreError) -> WritePermit {
        guard claims.operations.contains(.write) else {
            guard let origin, case .staticKey(let id) = claims.subject else { throw Self.notPermitted }
            throw StaticKeyRequest.readOnly(id, origin.operation)
        }
        guard case .allowed = decision else { throw Self.notPermitted }
        return WritePermit(claims: claims, policy: policy, origin: origin)
    }

    private static let notPermitted = StoreError(.accessDenied, "These credentials do not permit this operation.")
}

extension Authentication {
    /// Returns the claims of the temporary credentials that signed the request. The reason of a refusal is reported only after the
    /// signature has proven the secret.
    func claims(
        of request: SignedRequest, _ store: ObjectStore, maximumClockSkew: Duration?
    ) throws(StoreError) -> (claims: CredentialClaims, secret: Secret) {
        guard let securityToken, !securityToken.isEmpty else {
            throw StoreError(
                .invalidAccessKeyID,
                """
                The access key id is unknown (object_store.static_keys has the static ones); the id of temporary \
                credentials requires their security token.
                """)
        }
        let issued: (claims: CredentialClaims, secret: Secret)
        do {
            issued = try store.issuer.verify(accessKeyID: accessKeyID, token: securityToken)
        } catch {
            throw switch error {
            case .malformedToken: StoreError(.invalidSecurityToken, "The security token is malformed.")
            case .accessKeyMismatch:
                StoreError(.invalidAccessKeyID, "The access key id does not belong to the security token.")
            }
        }
        try prove(request, by: issued.secret, now: store.clock.now(), maximumClockSkew: maximumClockSkew)
        guard request.target.bucket == issued.claims.bucket, request.target.key == issued.claims.key else {
            throw StoreError(.accessDenied, "These credentials are for another object.")
        }
        return issued
    }

    /// Verifies that `secret` signed the request, and that the signature has not expired.
    ///
    /// Only the server's clock counts. The client's date is not checked unless a limit is configured: a device with a wrong clock
    /// must be able to upload.
    func prove(
        _ request: SignedRequest, by secret: Secret, now: UnixTime, maximumClockSkew: Duration?
    ) throws(StoreError) {
        guard isSigned(request, by: secret) else {
            throw StoreError(
                .signatureDoesNotMatch, "The request signature we calculated does not match the one you provided.")
        }
        if let expiresAt { try Self.requireUnexpired(expiresAt, at: now) }
        guard let limit = maximumClockSkew, let signedAt else { return }
        if expiresAt != nil {
            // The longest lifetime of a presigned URL counts from its date, so a date in the future would extend it.
            guard signedAt <= now.adding(limit) else {
                throw StoreError(
                    .accessDenied, "Request is not yet valid.",
                    details: [FlatXML.Element("ServerTime", Timestamps.xml(now))])
            }
        } else if signedAt < now.subtracting(limit) || now.adding(limit) < signedAt {
            throw StoreError(
                .requestTimeTooSkewed, "The difference between the request time and the current time is too large.",
                details: [FlatXML.Element("ServerTime", Timestamps.xml(now))])
        }
    }

    /// - Parameter expiresAt: the expiry of a presigned URL.
    static func requireUnexpired(_ expiresAt: UnixTime, at now: UnixTime) throws(StoreError) {
        guard now < expiresAt else { throw StoreError(.accessDenied, "Request has expired.") }
    }
}

/// A request signed by a static key, with its bucket.
struct StaticKeyRequest {
    let key: StaticKey
    let bucket: StoreBucket
    let operation: StoreOperation
    let head: HTTPRequestHead
    let request: SignedRequest
    /// The signatures of the body's chunks, if they are signed.
    let signatures: ChunkSignatures?

    /// The origin of its changes, for the audit log.
    var origin: WriteOrigin { WriteOrigin(operation: operation.name.rawValue, peer: head.peer) }

    /// Returns the stored key of an object in the bucket.
    ///
    /// - Throws: `accessDenied` if the static key may not access it.
    func stored(_ name: String, in bucket: StoreBucket) throws(StoreError) -> String {
        let stored = bucket.stored(name)
        guard key.reaches(stored) else {
            throw StoreError(
                .accessDenied,
                "\(operation.name.rawValue): the static key \(key.id) can only use objects below \(key.prefix) (its prefix)."
            )
        }
        return stored
    }

    /// - Parameter prefix: the prefix of the list, as the client sent it.
    func requireList(_ prefix: String) throws(StoreError) {
        guard key.reaches(bucket.stored(prefix)) else {
            throw StoreError(
                .accessDenied,
                "\(operation.name.rawValue): the static key \(key.id) can only list objects below \(key.prefix): set a prefix."
            )
        }
    }

    func requireWrite() throws(StoreError) {
        guard key.access == .write else { throw Self.readOnly(key.id, operation.name.rawValue) }
    }

    static func readOnly(_ id: String, _ operation: String) -> StoreError {
        StoreError(.accessDenied, "\(operation): the static key \(id) is read-only (access: \"read\").")
    }
}
