import Basics
import Crypto

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
