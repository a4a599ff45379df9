import Basics
import IdentityTokens
import JSON

/// A service account that workloads with certain claims get tokens of.
package struct WorkloadAccount: Sendable {
    /// The name of a service account of the organization `system`.
    package let account: String
    /// The claims that a token must have, each with exactly this value; not empty.
    package let claims: [String: String]

    package init(account: String, claims: [String: String]) {
        self.account = account
        self.claims = claims
    }

    func admits(_ token: IdentityToken) -> Bool {
        !claims.isEmpty && claims.allSatisfy { token.claims[$0.key]?.comparableText?.isExactly($0.value) == true }
    }
}
