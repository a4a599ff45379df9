import Basics
import Crypto
import ObjectStore
import StoreProtocol
import XML

/// The proof that a request was signed with valid credentials.
extension Authentication {
    /// Returns the claims of the temporary credentials that signed the request. The reason of a refusal is reported only after the
    /// signature has proven the secret.
    func claims(
        of request: SignedRequest, _ store: ObjectStore, _ policy: any AccessPolicy, maximumClockSkew: Duration?
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
        let now = store.clock.now()
        try requireSignature(of: request, by: issued.secret, now: now)
        if let signedAt, expiresAt == nil { policy.noteClock(of: issued.claims, signedAt: signedAt) }
        try requireTime(now: now, maximumClockSkew: maximumClockSkew)
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
        try requireSignature(of: request, by: secret, now: now)
        try requireTime(now: now, maximumClockSkew: maximumClockSkew)
    }

    private func requireSignature(
        of request: SignedRequest, by secret: Secret, now: UnixTime
    ) throws(StoreError) {
        guard isSigned(request, by: secret) else {
            throw StoreError(
                .signatureDoesNotMatch, "The request signature we calculated does not match the one you provided.")
        }
        if let expiresAt { try Self.requireUnexpired(expiresAt, at: now) }
    }

    /// Compares the client's clock with the server's, if there is a limit.
    private func requireTime(now: UnixTime, maximumClockSkew: Duration?) throws(StoreError) {
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
