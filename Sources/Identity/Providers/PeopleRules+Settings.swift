import Basics
import Capability
import Settings

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
