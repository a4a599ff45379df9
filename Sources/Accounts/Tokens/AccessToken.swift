import Basics

/// The kind of an access token. Each kind has its own `typ` and `aud`, so none passes for another (RFC 8725, section 3.11).
enum TokenKind: String, Sendable, CaseIterable {
    /// Issued for a device's or a site's API key.
    case apiKey
    /// Issued for a user's login.
    case user
    /// Issued for a service account's system credential.
    case system

    /// The value of `typ` in the header.
    var type: String {
        switch self {
        case .apiKey: "key+jwt"
        case .user: "user+jwt"
        case .system: "system+jwt"
        }
    }

    var audience: String {
        switch self {
        case .apiKey: "data-gateway/uploads"
        case .user: "data-gateway/users"
        case .system: "data-gateway/system"
        }
    }
}

/// The claims of a verified token.
struct AccessToken: Sendable, Equatable {
    let kind: TokenKind
    /// The id of an API key or a user.
    let subject: String
    /// The subject's epoch when the token was issued; a token with another epoch is revoked.
    let epoch: Int64
    let expiresAt: UnixTime
    /// The session of a user's token; `nil` for tokens of other kinds.
    var session: String?
    /// The id by which an app's clients know the user, for other servers that verify the token; not read by the gateway.
    var nameInApp: String?
}
