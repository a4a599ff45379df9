import Platform

/// What a client signs its requests with.
public struct SigningCredentials: Sendable {
    public let accessKeyID: String
    public let secret: Secret
    /// `nil` for a static key.
    public let securityToken: String?

    public init(accessKeyID: String, secret: Secret, securityToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secret = secret
        self.securityToken = securityToken
    }
}

extension TemporaryCredentials {
    public var signing: SigningCredentials {
        SigningCredentials(accessKeyID: accessKeyID, secret: secret, securityToken: securityToken)
    }
}
