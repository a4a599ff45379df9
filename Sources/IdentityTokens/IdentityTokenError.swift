/// The reason why a token of an identity provider is refused.
package enum IdentityTokenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// - Parameter reason: the rule that it violates.
    case malformed(_ reason: String)
    case algorithm
    case type
    case unknownKey
    case signature
    case issuer
    case audience
    case otherAudience
    case authorizedParty
    case times
    case expired
    case notYetValid
    case subject
    case nonce
    case used

    package var description: String {
        switch self {
        case .malformed(let reason): reason
        case .algorithm: "its alg must be RS256 or ES256"
        case .type: "its typ must be JWT"
        case .unknownKey: "its provider has no usable key with its kid and alg"
        case .signature: "its signature is wrong"
        case .issuer: "its iss is not the provider's issuer"
        case .audience: "its aud does not contain an audience of the provider"
        case .otherAudience: "its aud also contains an audience that the provider's configuration does not have"
        case .authorizedParty: "its azp is not an audience of the provider"
        case .times: "its exp, iat and nbf must be numbers of seconds since 1970, and exp and iat are required"
        case .expired: "it has expired (exp)"
        case .notYetValid: "it is not valid yet (iat, nbf): compare the clocks"
        case .subject: "its sub must be 1 to 255 bytes without control characters"
        case .nonce: "its nonce is not the one of this sign-in"
        case .used: "it was already used"
        }
    }
}
