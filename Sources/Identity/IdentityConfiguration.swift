import Basics
package import Capability
import FoundationEssentials
package import Settings

/// The identity providers, and the limits of sign-ins.
package struct IdentityConfiguration: Sendable {
    package var providers: [IdentityProvider] = []
    /// The URL of the console for browsers, without a slash at its end; `nil` = only loopback addresses may be redirected to.
    package var publicURL: String?
    /// The time for a sign-in at a provider, and the lifetime of a nonce.
    package var signInTime = Duration.minutes(10)
    /// The time in which a used token is accepted again, in case its response was lost.
    package var repeatGrace = Duration.seconds(30)
    /// The limit of sign-ins a minute that fail from one address.
    package var failuresOfAddress = 60

    package init() {}

    /// The path of the console to which providers send browsers back.
    package static let callbackPath = "/console/sso/callback"
}

extension IdentityConfiguration: CapabilitySettings {
    private static let mostProviders = 32

    /// Reads the section `identity`.
    package init(_ settings: SettingsReader, _ context: SettingsContext) {
        self.init()
        let section = settings.section("identity")
        let url = section.text("public_url", default: "", unit: "URL", bounds: "`https://HOST[:PORT]`")
        if !url.isEmpty {
            let isPlain = URLComponents(webAddress: url)?.path.isEmpty == true && !url.contains("?")
            if ProviderURL.isAcceptable(url), isPlain {
                publicURL = url
            } else {
                section.reject(
                    "public_url", "must be https://HOST[:PORT] without a path; http:// only for a loopback address")
            }
        }
        var issuers: Set<String> = []
        providers = section.table("providers") { name, provider in
            let read = IdentityProvider(name, provider)
            if let issuer = read?.issuer, !issuers.insert(issuer).inserted {
                provider.reject("issuer", "must be unique, but another provider has the same")
            }
            return read
        }
        if providers.count > Self.mostProviders {
            section.reject(
                "providers", "must have at most \(Self.mostProviders) entries, not \(providers.count)")
        }
    }
}
