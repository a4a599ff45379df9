import Accounts
import Basics
package import Capability
import IdentityTokens
import JSON
import Settings

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

extension PeopleRules {
    /// Reads the object `users` of a provider.
    init(_ settings: SettingsReader) {
        self.init(organization: settings.text("organization") ?? "")
        let claim = settings.text("roles_claim", default: "")
        rolesClaim = claim.isEmpty ? nil : claim
        let roleNames = Role.allCases.filter { $0 != .service }.map(\.rawValue).joined(separator: ", ")
        func role(_ text: String, _ name: String) -> Role? {
            if let role = Role(rawValue: text), role != .service { return role }
            settings.reject(name, "must be one of \(roleNames)")
            return nil
        }
        let given = settings.map("roles", bounds: roleNames) ?? [:]
        for (value, text) in given.sorted(by: { $0.key < $1.key }) { roles[value] = role(text, "roles.\(value)") }
        let standard = settings.text("default_role", default: "", unit: "word", bounds: roleNames)
        if settings.contains("default_role") { defaultRole = role(standard, "default_role") }
        if given.isEmpty != (rolesClaim == nil) {
            settings.reject("roles", "and roles_claim must be given together")
        }
        if rolesClaim == nil, !settings.contains("default_role") {
            settings.reject("roles_claim", "or default_role is required")
        }
        createsAccounts = settings.flag("create", default: false)
        linksByEmail = settings.flag("links_by_email", default: false)
        requiresNonce = settings.flag("require_nonce", default: false)
        sessionLifetime = settings.duration("session_hours", default: sessionLifetime, in: 1...720, unit: .hours)
    }
}

extension WorkloadAccount {
    /// Reads an element of `service_accounts` of a provider.
    init?(_ settings: SettingsReader) {
        let account = settings.text("account")
        let claims = settings.map("claims") ?? [:]
        if claims.isEmpty {
            settings.reject(
                "claims", "must have at least one claim: otherwise every workload of the provider is accepted")
        }
        guard let account else { return nil }
        self.init(account: account, claims: claims)
    }
}

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
