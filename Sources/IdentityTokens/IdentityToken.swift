package import Basics
package import JSON

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
