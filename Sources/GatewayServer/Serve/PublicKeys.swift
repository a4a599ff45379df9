import Accounts
import HTTPTypes

/// The public keys for verifying access tokens, as a JWK Set (RFC 7517, section 5).
struct PublicKeys: Sendable {
    static let path = "/.well-known/jwks.json"

    let accounts: Accounts

    var response: HTTPResponse {
        // A new key signs at once: clients that cache the keys have to fetch them again when a token names an unknown key.
        let fields: HTTPFields = [
            "Content-Type": "application/jwk-set+json", "Cache-Control": "public, max-age=300",
            "X-Content-Type-Options": "nosniff",
        ]
        return HTTPResponse(status: 200, fields: fields, body: .bytes(Array(accounts.publicKeys.utf8)))
    }
}
