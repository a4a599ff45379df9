package import Accounts
import Basics
package import Crypto
import Database
import FoundationEssentials
import HTTPTypes
import IdentityTokens
import Settings

/// An identity provider in the configuration.
package struct IdentityProvider: Sendable {
    /// The gateway's registration at the provider, for sign-ins in a browser.
    package struct Client: Sendable {
        package let id: String
        /// `nil` for a public client, which has none.
        package let secret: Secret?
        /// The scopes that are requested; `openid` is among them.
        package let scopes: [String]

        package init(id: String, secret: Secret?, scopes: [String]) {
            self.id = id
            self.secret = secret
            self.scopes = scopes
        }

        /// Returns the id and the secret for the Authorization field, encoded as in a form (RFC 6749, section 2.3.1); `nil` if
        /// there is no secret, or it is sent in the form.
        func basicPair(for places: ProviderMetadata.SecretPlaces) -> String? {
            guard let secret, places != .form else { return nil }
            let pair = "\(URLEncoding.encode(id)):\(URLEncoding.encode(secret.exposedText))"
            // Some providers do not decode the field. All of them decode a form.
            return places == .both && pair != "\(id):\(secret.exposedText)" ? nil : pair
        }
    }

    /// The name in the configuration and in addresses, e.g. `corp`.
    package let name: String
    /// The name for people.
    package var title: String
    /// The exact `iss` of its tokens; its discovery document is below this URL.
    package let issuer: String
    /// The names by which the provider knows the gateway or its apps.
    package let audiences: Set<String>
    /// The URL of its key set; `nil` = the one of its discovery document.
    package var keysURL: String?
    /// The PEM file of authorities for its certificate; `nil` = those that the system trusts.
    package var authorities: String?
    /// `nil` = no sign-ins in a browser.
    package var client: Client?
    /// The rules for people; `nil` = people cannot sign in.
    package var people: PeopleRules?
    /// The service accounts of workloads, in the order in which they are tried.
    package var workloads: [WorkloadAccount] = []
    /// Whether the token of a workload is accepted more than once, until it expires.
    package var acceptsWorkloadTokensAgain = false

    package init(name: String, issuer: String, audiences: Set<String>) {
        self.name = name
        title = name
        self.issuer = issuer
        self.audiences = audiences
    }

    var tokenRules: IdentityTokenRules { IdentityTokenRules(issuer: issuer, audiences: audiences) }

    /// The organization of its people, in its configuration.
    package var configuredOrganization: ConfiguredOrganization? {
        people.map { ConfiguredOrganization(setting: "identity.providers.\(name).users", name: $0.organization) }
    }
}

extension IdentityProvider {
    private static let mostEntries = 100
    /// The longest issuer in bytes, which is in an index together with a subject.
    private static let longestIssuer = 1024
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
        if issuer.utf8.count > Self.longestIssuer {
            settings.reject("issuer", "must be at most \(Self.longestIssuer) bytes")
        }
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

/// The rule for the URLs of identity providers, and for those to which they send browsers back: `https`, or `http` on a loopback
/// address.
package enum ProviderURL {
    private static let loopback = ["127.0.0.0/8", "::1"].compactMap(AddressRange.init)
    private static let longest = 2048

    package static func isAcceptable(_ text: String) -> Bool {
        guard let parts = parts(text) else { return false }
        return parts.scheme == "https" || (parts.scheme == "http" && isLoopback(parts))
    }

    /// Whether the URL is on this machine.
    package static func isOnLoopback(_ text: String) -> Bool { parts(text).map(isLoopback) ?? false }

    private static func parts(_ text: String) -> URLComponents? {
        guard text.utf8.count <= longest, text.utf8.allSatisfy(\.isASCIIVisible),
            let parts = URLComponents(webAddress: text), parts.host?.isEmpty == false, parts.user == nil,
            parts.password == nil, parts.fragment == nil
        else { return nil }
        return parts
    }

    private static func isLoopback(_ parts: URLComponents) -> Bool {
        let host = (parts.host ?? "").trimming(scalars: { $0 == "[" || $0 == "]" })
        return host == "localhost" || loopback.contain(host)
    }
}
