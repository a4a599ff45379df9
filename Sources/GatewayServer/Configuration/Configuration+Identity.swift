import Accounts
import Basics
import Capability
import Crypto
import Foundation
import Identity

extension Configuration {
    private static let mostProviders = 32
    private static let mostEntries = 100

    /// Reads the section `identity`: the identity providers for sign-ins.
    static func identity(_ reader: inout ConfigurationReader) throws(ConfigurationError) -> IdentityConfiguration {
        var identity = IdentityConfiguration()
        let publicURL = try reader.text(
            "identity.public_url", default: "", unit: "URL", bounds: "`https://HOST[:PORT]`")
        if !publicURL.isEmpty {
            guard ProviderURL.isAcceptable(publicURL), URLComponents(string: publicURL)?.path.isEmpty == true,
                !publicURL.contains("?")
            else {
                throw reader.wrong(
                    "identity.public_url",
                    "must be https://HOST[:PORT] without a path; http:// only for a loopback address")
            }
            identity.publicURL = publicURL
        }
        let table = try reader.table("identity.providers")
        guard table.count <= mostProviders else {
            throw ConfigurationError(
                "identity.providers must have at most \(mostProviders) entries, not \(table.count)",
                key: "identity.providers")
        }
        for (name, entry) in table {
            var entry = entry
            let provider = try provider(name, &entry)
            try entry.finish()
            guard !identity.providers.contains(where: { $0.issuer == provider.issuer }) else {
                throw entry.wrong("issuer", "must be unique, but another provider has the same")
            }
            identity.providers.append(provider)
        }
        return identity
    }

    private static func provider(
        _ name: String, _ entry: inout ConfigurationEntry
    ) throws(ConfigurationError) -> IdentityProvider {
        let isName =
            (1...32).contains(name.utf8.count) && name.first != "-" && name != "callback"
            && name.utf8.allSatisfy { $0.isASCIILowercaseAlphanumeric || $0 == UInt8(ascii: "-") }
        guard isName else {
            throw ConfigurationError(
                """
                identity.providers.\(name): a provider's name must be 1 to 32 of a-z, 0-9 and hyphens, not begin with a \
                hyphen, and not be callback
                """, key: "identity.providers.\(name)")
        }
        let audiences = try entry.texts("audiences") ?? []
        guard (1...mostEntries).contains(audiences.count) else {
            throw entry.wrong("audiences", "must name 1 to \(mostEntries) audiences")
        }
        var provider = IdentityProvider(name: name, issuer: try url("issuer", &entry), audiences: Set(audiences))
        provider.title = try entry.text("title", default: name)
        guard (1...64).contains(provider.title.utf8.count) else { throw entry.wrong("title", "must be 1 to 64 bytes") }
        if entry.contains("keys_url") { provider.keysURL = try url("keys_url", &entry) }
        let authorities = try entry.text("authorities", default: "")
        provider.authorities = authorities.isEmpty ? nil : authorities
        provider.client = try client(&entry, audiences)
        if var users = try entry.section("users") {
            provider.people = try people(&users)
            try users.finish()
        }
        for var account in try entry.entries("service_accounts") {
            provider.workloads.append(try workload(&account))
            try account.finish()
        }
        guard provider.workloads.count <= mostEntries else {
            throw entry.wrong("service_accounts", "must have at most \(mostEntries) entries")
        }
        provider.acceptsWorkloadTokensAgain = try entry.flag("reusable_tokens", default: false)
        guard provider.people != nil || !provider.workloads.isEmpty else {
            throw entry.wrong("users", "or service_accounts is required")
        }
        guard provider.client == nil || provider.people != nil else {
            throw entry.wrong("client_id", "requires users, the rules for people")
        }
        return provider
    }

    private static func url(_ name: String, _ entry: inout ConfigurationEntry) throws(ConfigurationError) -> String {
        let url = try entry.text(name)
        guard ProviderURL.isAcceptable(url) else {
            throw entry.wrong(
                name, "must be an https:// URL without a user or a fragment; http:// only for a loopback address")
        }
        return url
    }

    private static func client(
        _ entry: inout ConfigurationEntry, _ audiences: [String]
    ) throws(ConfigurationError) -> IdentityProvider.Client? {
        let id = try entry.text("client_id", default: "")
        let isSecretGiven = entry.contains("secret_file") || entry.contains("secret_env")
        let secret = isSecretGiven ? try entry.secretSource().secret(least: 1) : nil
        let scopes = try entry.texts("scopes") ?? ["openid", "email", "profile"]
        guard !id.isEmpty else {
            guard secret == nil else { throw entry.wrong("secret_file", "requires client_id") }
            return nil
        }
        guard audiences.contains(id) else {
            throw entry.wrong("client_id", "must be one of the audiences: the provider's tokens for it have it in aud")
        }
        guard scopes.contains("openid"), scopes.count <= 32 else { throw entry.wrong("scopes", "must contain openid") }
        return IdentityProvider.Client(id: id, secret: secret, scopes: scopes)
    }

    private static func people(_ entry: inout ConfigurationEntry) throws(ConfigurationError) -> PeopleRules {
        var people = PeopleRules(organization: try entry.text("organization"))
        let claim = try entry.text("roles_claim", default: "")
        people.rolesClaim = claim.isEmpty ? nil : claim
        for (value, role) in try entry.map("roles") ?? [:] {
            people.roles[value] = try self.role(role, "roles.\(value)", entry)
        }
        if entry.contains("default_role") {
            people.defaultRole = try role(try entry.text("default_role"), "default_role", entry)
        }
        guard people.roles.isEmpty == (people.rolesClaim == nil) else {
            throw entry.wrong("roles", "and roles_claim must be given together")
        }
        guard people.rolesClaim != nil || people.defaultRole != nil else {
            throw entry.wrong("roles_claim", "or default_role is required")
        }
        people.createsAccounts = try entry.flag("create", default: false)
        people.linksByEmail = try entry.flag("links_by_email", default: false)
        people.requiresNonce = try entry.flag("require_nonce", default: false)
        people.sessionLifetime = .seconds(
            3600 * (try entry.integer("session_hours", default: 12, in: 1...720, unit: "hours")))
        return people
    }

    private static func role(
        _ text: String, _ name: String, _ entry: ConfigurationEntry
    ) throws(ConfigurationError) -> Role {
        guard let role = Role(rawValue: text), role != .service else {
            let roles = Role.allCases.filter { $0 != .service }.map(\.rawValue).joined(separator: ", ")
            throw entry.wrong(name, "must be one of \(roles)")
        }
        return role
    }

    private static func workload(_ entry: inout ConfigurationEntry) throws(ConfigurationError) -> WorkloadAccount {
        let account = try entry.text("account")
        let claims = try entry.map("claims") ?? [:]
        guard !claims.isEmpty else {
            throw entry.wrong(
                "claims", "must have at least one claim: otherwise every workload of the provider is accepted")
        }
        return WorkloadAccount(account: account, claims: claims)
    }
}
