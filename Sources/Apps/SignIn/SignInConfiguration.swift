import AppSupport
import Basics
import Crypto
import Settings

/// The settings of the app.
struct SignInConfiguration: Sendable {
    /// The name of the app's organization.
    var organization: String
    /// The name of Apple's entry in `identity.providers`.
    var provider: String
    /// The secret of dev-login; `nil` = it is disabled.
    var devSecret: Secret?
    /// Whether a secret is set that has no effect, since other machines can reach the listener.
    var ignoresDevSecret = false
    /// The session of a development sign-in.
    var devSessionLifetime = Duration.days(30)
    /// Whether responses have an envelope.
    var hasEnvelope: Bool
    /// The time for which a deleted knowledge base can be restored from the database.
    var deletedRetention = Duration.days(30)

    init(_ settings: AppSettings) {
        let section = settings.section
        organization = section.text(
            "organization", default: "sign-in", unit: "name", bounds: "1–64 letters, digits or `. _ @ + -`")
        provider = section.text("provider", default: "apple", unit: "name", bounds: "a name in `identity.providers`")
        hasEnvelope = section.flag("envelope", default: false)
        let secret = section.section("dev_login").optionalSecret(least: 8)
        devSecret = settings.isOnLoopback ? secret : nil
        ignoresDevSecret = secret != nil && devSecret == nil
    }
}
