import Database
import Platform

/// Who sends a request, and what they may do: decided when its header has arrived. A body that takes longer than the
/// credentials live is let through.
struct StoreAccess {
    let claims: CredentialClaims
    let decision: AccessDecision
    /// Of the body's chunks, where they are signed.
    let chunkSignatures: ChunkSignatures?

    /// The reason of a refusal is told only after the signature has proven the secret.
    static func check(
        _ request: SignedRequest, _ authentication: Authentication, store: ObjectStore, policy: any AccessPolicy,
        maximumClockSkew: Int64?
    ) throws -> StoreAccess {
        guard let token = authentication.securityToken, !token.isEmpty else {
            throw StoreError(.invalidAccessKeyID, "The access key id is unknown here without its security token.")
        }
        let claims: CredentialClaims
        let secret: Secret
        do {
            (claims, secret) = try store.issuer.verify(accessKeyID: authentication.accessKeyID, token: token)
        } catch {
            throw switch error {
            case .malformedToken: StoreError(.invalidSecurityToken, "The security token is malformed.")
            case .accessKeyMismatch: StoreError(.invalidAccessKeyID, "The access key id is not the security token's.")
            }
        }
        guard authentication.isSigned(request, by: secret) else {
            throw StoreError(
                .signatureDoesNotMatch, "The request signature we calculated does not match the one you provided.")
        }
        let now = store.clock.now()
        try checkTime(authentication, claims, now: now, maximumClockSkew: maximumClockSkew)
        guard request.target.bucket == claims.bucket, request.target.key == claims.key else {
            throw StoreError(.accessDenied, "These credentials are for another object.")
        }
        let decision = try store.database.read { try policy.decide(claims, in: $0) }
        switch decision {
        case .denied: throw StoreError(.accessDenied, "These credentials may not be used any more.")
        case .noSuchUpload: throw StoreError.noSuchUpload
        case .allowed(_, let needsActivity), .readOnly(let needsActivity):
            if needsActivity {
                let uploadID = claims.uploadID
                try store.database.writeBlocking {
                    try policy.recordActivity(uploadID: uploadID, at: now, in: $0)
                }
            }
        }
        return StoreAccess(
            claims: claims, decision: decision, chunkSignatures: authentication.chunkSignatures(secret))
    }

    func requireRead() throws(StoreError) {
        guard claims.operations.contains(.read) else { throw Self.notPermitted }
    }

    /// - Returns: what to ask again in the commit.
    func requireWrite(_ policy: any AccessPolicy) throws(StoreError) -> WritePermit {
        guard case .allowed = decision, claims.operations.contains(.write) else { throw Self.notPermitted }
        return WritePermit(claims: claims, policy: policy)
    }

    private static let notPermitted = StoreError(.accessDenied, "These credentials do not permit this operation.")

    /// Times are those of our clock. The date that a client signs is not policed unless a limit is set: a robot whose
    /// clock is wrong must be able to upload.
    private static func checkTime(
        _ authentication: Authentication, _ claims: CredentialClaims, now: UnixTime, maximumClockSkew: Int64?
    ) throws(StoreError) {
        if let expiry = authentication.expiresAt {
            guard now < expiry else { throw StoreError(.accessDenied, "Request has expired.") }
        } else if let limit = maximumClockSkew, let signedAt = authentication.signedAt,
            signedAt < now.adding(seconds: -limit) || now.adding(seconds: limit) < signedAt
        {
            throw StoreError(
                .requestTimeTooSkewed, "The difference between the request time and the current time is too large.",
                details: [FlatXML.Element("ServerTime", Timestamps.xml(now))])
        }
        guard now < claims.expiresAt else {
            throw StoreError(.securityTokenExpired, "The security token you provided has expired.")
        }
    }
}
