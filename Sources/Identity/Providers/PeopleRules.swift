import Accounts
import Basics
package import Capability
import IdentityTokens
import JSON

/// The rules for people whom a provider signs in.
package struct PeopleRules: Sendable {
    /// The name of their organization.
    package let organization: String
    /// The claim with the values that have roles, e.g. `groups`; `nil` = roles are managed at the gateway.
    package var rolesClaim: String?
    /// The roles of the claim's values.
    package var roles: [String: Role] = [:]
    /// The role of new accounts without a role from a claim; `nil` = they are refused.
    package var defaultRole: Role?
    /// Whether a sign-in by an unknown person makes an account.
    package var createsAccounts = false
    /// Whether the provider is trusted to verify addresses, so that people with the same address at two such providers have one
    /// account.
    package var linksByEmail = false
    /// Whether an app's sign-in needs a nonce of the gateway.
    package var requiresNonce = false
    /// The longest session: after it, people have to sign in again, so that the provider decides again.
    package var sessionLifetime = Duration.seconds(12 * 3600)

    package init(organization: String) {
        self.organization = organization
    }

    /// The effect of a sign-in on the role.
    enum RoleDecision: Equatable {
        /// The role is managed at the gateway; the value is that of a new account.
        case unmanaged(initial: Role)
        case managed(Role)
        case refused

        /// The role of a new account; `nil` if the person is refused.
        var initial: Role? {
            switch self {
            case .unmanaged(let role), .managed(let role): role
            case .refused: nil
            }
        }
    }

    /// Returns the role by the token's claims: the highest of those that the claim's values have.
    func role(by claims: [String: JSONValue]) -> RoleDecision {
        guard let rolesClaim else { return defaultRole.map { .unmanaged(initial: $0) } ?? .refused }
        let values = claims[rolesClaim]?.strings ?? []
        let named = roles.filter { group, _ in values.contains { $0.isExactly(group) } }
        guard let role = named.values.max() ?? defaultRole else { return .refused }
        return .managed(role)
    }
}
