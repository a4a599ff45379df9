import Basics

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
