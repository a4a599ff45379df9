package import Basics
package import JSON

/// The rules for the tokens of one provider.
package struct IdentityTokenRules: Sendable {
    /// The tolerance for clocks that differ.
    package static let leewaySeconds: Int64 = 60
    private static let longestSubject = 255
    private static let longestEmail = 320

    /// The bearer of a token, which decides how its audiences are read.
    package enum Bearer: Sendable {
        /// A person's ID token is for its audiences alone: each of them could present it.
        case person
        /// Platforms name several parties in a workload's token, such as Kubernetes its own servers.
        case workload
    }

    package let issuer: String
    /// The names by which the provider knows the gateway or its apps.
    package let audiences: Set<String>

    package init(issuer: String, audiences: Set<String>) {
        self.issuer = issuer
        self.audiences = audiences
    }

    /// Verifies the signature, and then the claims.
    ///
    /// - Throws: ``IdentityTokenError``.
    package func verify(
        _ token: SignedToken, of bearer: Bearer, keys: JSONWebKeySet, at now: UnixTime
    ) throws(IdentityTokenError) -> IdentityToken {
        try token.verify(keys)
        let claims = token.claims
        guard token.issuer?.isExactly(issuer) == true else { throw .issuer }
        try checkAudience(claims, of: bearer)
        let expiresAt = try checkTimes(claims, at: now.seconds)
        guard let subject = claims["sub"]?.stringValue, (1...Self.longestSubject).contains(subject.utf8.count),
            !Self.hasControlCharacter(subject)
        else { throw .subject }
        let email = claims["email"]?.stringValue.flatMap { email in
            (3...Self.longestEmail).contains(email.utf8.count) && !Self.hasControlCharacter(email) ? email : nil
        }
        return IdentityToken(
            issuer: issuer, subject: subject, expiresAt: UnixTime(seconds: expiresAt),
            nonce: claims["nonce"]?.stringValue,
            email: email, isEmailVerified: email != nil && claims["email_verified"]?.flag == true, claims: claims)
    }

    /// Verifies a token with which the provider reports an event (RFC 8417): it names no subject of its own, and `exp` is optional.
    package func verifyNotice(
        _ token: SignedToken, keys: JSONWebKeySet, at now: UnixTime
    ) throws(IdentityTokenError) -> [String: JSONValue] {
        try token.verify(keys)
        guard token.issuer?.isExactly(issuer) == true else { throw .issuer }
        try checkAudience(token.claims, of: .person)
        guard let issued = token.claims["iat"]?.seconds else { throw .times }
        guard issued <= now.seconds + Self.leewaySeconds else { throw .notYetValid }
        if let expiry = token.claims["exp"] {
            guard let end = expiry.seconds else { throw .times }
            guard end > now.seconds - Self.leewaySeconds else { throw .expired }
        }
        return token.claims
    }

    private func checkAudience(_ claims: [String: JSONValue], of bearer: Bearer) throws(IdentityTokenError) {
        guard let named = claims["aud"]?.strings, named.contains(where: isAudience) else { throw .audience }
        guard bearer == .person else { return }
        // OpenID Connect Core 1.0 with errata set 2, section 3.1.3.7.
        guard named.allSatisfy(isAudience) else { throw .otherAudience }
        guard let party = claims["azp"] else { return }
        // The party of a token for one audience may be another client of the provider, as of Google's apps.
        guard let name = party.stringValue, named.count == 1 || isAudience(name) else { throw .authorizedParty }
    }

    private func isAudience(_ name: String) -> Bool { audiences.contains { $0.isExactly(name) } }

    /// - Returns: the time of expiry.
    private func checkTimes(_ claims: [String: JSONValue], at now: Int64) throws(IdentityTokenError) -> Int64 {
        guard let expiry = claims["exp"]?.seconds, let issued = claims["iat"]?.seconds else { throw .times }
        guard expiry > now - Self.leewaySeconds else { throw .expired }
        guard issued <= now + Self.leewaySeconds else { throw .notYetValid }
        if let start = claims["nbf"] {
            guard let start = start.seconds else { throw .times }
            guard start <= now + Self.leewaySeconds else { throw .notYetValid }
        }
        return expiry
    }

    private static func hasControlCharacter(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

/// The claims of a verified identity token (OpenID Connect Core 1.0, section 2).
package struct IdentityToken: Sendable {
    package let issuer: String
    /// The provider's name for the person or the program: 1 to 255 bytes, never reassigned.
    package let subject: String
    package let expiresAt: UnixTime
    package let nonce: String?
    package let email: String?
    /// Whether the provider has verified that the address is the person's.
    package let isEmailVerified: Bool
    /// All claims.
    package let claims: [String: JSONValue]
}
