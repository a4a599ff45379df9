package import Basics
package import Crypto

/// The credentials with which a client signs its requests.
package struct SigningCredentials: Sendable {
    package let accessKeyID: String
    package let secret: Secret
    /// The security token; `nil` for a static key.
    package let securityToken: String?

    package init(accessKeyID: String, secret: Secret, securityToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secret = secret
        self.securityToken = securityToken
    }
}

extension TemporaryCredentials {
    package var signing: SigningCredentials {
        SigningCredentials(accessKeyID: accessKeyID, secret: secret, securityToken: securityToken)
    }
}

/// Temporary credentials with which a client signs its requests.
package struct TemporaryCredentials: Sendable {
    package let accessKeyID: String
    package let secret: Secret
    package let securityToken: String
    package let expiresAt: UnixTime

    package init(accessKeyID: String, secret: Secret, securityToken: String, expiresAt: UnixTime) {
        self.accessKeyID = accessKeyID
        self.secret = secret
        self.securityToken = securityToken
        self.expiresAt = expiresAt
    }
}
