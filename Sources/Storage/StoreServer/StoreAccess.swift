import Basics
import Crypto
import ObjectStore
import StoreProtocol
import XML

/// The sender of a request, and what they may do to an object: decided when its header has arrived. A body that takes
/// longer than the credentials live is let through.
struct StoreAccess {
    let claims: CredentialClaims
    let decision: AccessDecision
    /// The signatures of the body's chunks, where they are signed.
    let chunkSignatures: ChunkSignatures?
    /// The request, where a static key signed it.
    var origin: WriteOrigin?

    /// What may be done in the name of claims whose secret was proven.
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

    /// - Throws: where `decision` permits nothing.
    init(
        _ claims: CredentialClaims, _ decision: AccessDecision, chunkSignatures: ChunkSignatures?, store: ObjectStore,
        policy: any AccessPolicy
    ) throws {
        switch decision {
        case .denied: throw StoreError(.accessDenied, "These credentials are no longer valid.")
        case .noSuchUpload: throw StoreError.noSuchUpload
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

    /// - Returns: what to ask again in the commit.
    func requireWrite(_ policy: any AccessPolicy) throws(StoreError) -> WritePermit {
        guard case .allowed = decision, claims.operations.contains(.write) else { throw Self.notPermitted }
        return WritePermit(claims: claims, policy: policy, origin: origin)
    }

    private static let notPermitted = StoreError(.accessDenied, "These credentials do not permit this operation.")
}

extension Authentication {
    /// The claims of the temporary credentials that signed the request. The reason of a refusal is told only after the
    /// signature has proven the secret.
    func claims(
        of request: SignedRequest, _ store: ObjectStore, maximumClockSkew: Duration?
    ) throws(StoreError) -> (claims: CredentialClaims, secret: Secret) {
        guard let securityToken, !securityToken.isEmpty else {
            throw StoreError(.invalidAccessKeyID, "The access key id requires its security token.")
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

    /// Proves that `secret` signed the request, and that the signature is still valid.
    ///
    /// Times are those of our clock. The date that a client signs is not policed unless a limit is set: a robot whose
    /// clock is wrong must be able to upload.
    func prove(
        _ request: SignedRequest, by secret: Secret, now: UnixTime, maximumClockSkew: Duration?
    ) throws(StoreError) {
        guard isSigned(request, by: secret) else {
            throw StoreError(
                .signatureDoesNotMatch, "The request signature we calculated does not match the one you provided.")
        }
        if let expiresAt {
            try Self.requireUnexpired(expiresAt, at: now)
        } else if let limit = maximumClockSkew, let signedAt,
            signedAt < now.subtracting(limit) || now.adding(limit) < signedAt
        {
            throw StoreError(
                .requestTimeTooSkewed, "The difference between the request time and the current time is too large.",
                details: [FlatXML.Element("ServerTime", Timestamps.xml(now))])
        }
    }

    /// - Parameter expiresAt: of a presigned URL.
    static func requireUnexpired(_ expiresAt: UnixTime, at now: UnixTime) throws(StoreError) {
        guard now < expiresAt else { throw StoreError(.accessDenied, "Request has expired.") }
    }
}
