/// The beginning of each kind of secret that the gateway issues or accepts, by which people, secret scanners and the scrubber of logs
/// recognize it. This is the only place that defines one, so that no kind is missing in a scrubbed log.
package enum TokenPrefix: String, CaseIterable, Sendable {
    case apiKey = "dgwk"
    case refreshToken = "dgwr"
    case systemCredential = "dgws"
    case apiToken = "dgwt_"
    case signInChallenge = "dgwc_"
    case invitation = "dgwi_"
    case umidToken = "dgwu"
    case webhookKey = "whsec_"
    /// The beginning of an access key of temporary credentials.
    case temporaryAccessKey = "STS."
    /// The Base64 of `{"`, with which access tokens and identity tokens begin (JWT).
    case jsonWebToken = "eyJ"
}
