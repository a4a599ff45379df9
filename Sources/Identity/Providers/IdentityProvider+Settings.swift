import Basics
import Settings

extension IdentityProvider {
    private static let mostEntries = 100
    private static let standardScopes = ["openid", "email", "profile"]

    /// Reads a member of `identity.providers`; `nil` after a fault without which it cannot be read further.
    init?(_ name: String, _ settings: SettingsReader) {
        guard Self.isName(name) else {
            settings.report(
                ConfigurationError(
                    """
                    \(settings.place): a provider's name must be 1 to 32 of a-z, 0-9 and hyphens, not begin with a \
                    hyphen, and not be callback
                    """, key: settings.place))
            return nil
        }
        let audiences =
            settings.list("audiences", standard: "required", bounds: "1–\(Self.mostEntries) names") ?? []
        if !(1...Self.mostEntries).contains(audiences.count) {
            settings.reject("audiences", "must name 1 to \(Self.mostEntries) audiences")
        }
        guard let issuer = settings.text("issuer", unit: "URL") else { return nil }
        Self.check(issuer, "issuer", settings)
        self.init(name: name, issuer: issuer, audiences: Set(audiences))
        title = settings.text("title", default: name, bounds: "1–64 bytes")
        if !(1...64).contains(title.utf8.count) { settings.reject("title", "must be 1 to 64 bytes") }
        let keys = settings.text("keys_url", default: "", unit: "URL")
        if settings.contains("keys_url") {
            Self.check(keys, "keys_url", settings)
            keysURL = keys
        }
        let authorities = settings.text("authorities", default: "", unit: "PEM file")
        self.authorities = authorities.isEmpty ? nil : authorities
        client = Self.client(settings, audiences)
        people = settings.object("users").map { PeopleRules($0) }
        readWorkloads(settings)
    }

    private mutating func readWorkloads(_ settings: SettingsReader) {
        workloads = settings.elements("service_accounts", bounds: "at most \(Self.mostEntries) entries") { account in
            WorkloadAccount(account)
        }
        if workloads.count > Self.mostEntries {
            settings.reject("service_accounts", "must have at most \(Self.mostEntries) entries")
        }
        acceptsWorkloadTokensAgain = settings.flag("reusable_tokens", default: false)
        if people == nil, !settings.contains("service_accounts") || workloads.isEmpty {
            settings.reject("users", "or service_accounts is required")
        }
        if client != nil, people == nil { settings.reject("client_id", "requires users, the rules for people") }
    }

    private static func isName(_ name: String) -> Bool {
        (1...32).contains(name.utf8.count) && name.first != "-" && name != "callback"
            && name.utf8.allSatisfy { $0.isASCIILowercaseAlphanumeric || $0 == UInt8(ascii: "-") }
    }

    private static func check(_ url: String, _ name: String, _ settings: SettingsReader) {
        if ProviderURL.isAcceptable(url) { return }
        settings.reject(
            name, "must be an https:// URL without a user or a fragment; http:// only for a loopback address")
    }

    private static func client(_ settings: SettingsReader, _ audiences: [String]) -> Client? {
        let id = settings.text("client_id", default: "")
        let secret = settings.optionalSecret(least: 1)
        let scopes =
            settings.list("scopes", standard: standardScopes.joined(separator: ", "), bounds: "at most 32 names")
            ?? standardScopes
        guard !id.isEmpty else {
            if secret != nil { settings.reject("secret_file", "requires client_id") }
            return nil
        }
        if !audiences.contains(id) {
            settings.reject(
                "client_id", "must be one of the audiences: the provider's tokens for it have it in aud")
        }
        if !scopes.contains("openid") || scopes.count > 32 { settings.reject("scopes", "must contain openid") }
        return Client(id: id, secret: secret, scopes: scopes)
    }
}
