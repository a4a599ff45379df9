import Basics
import Crypto

/// A key that the configuration gives to operators' own tools: good until it is taken out there.
package struct StaticKey: Sendable {
    package enum Access: String, Sendable, CaseIterable {
        /// HEAD, GET and lists.
        case read
        /// These, and PUT, multipart uploads, DELETE.
        case write
    }

    /// What clients know as the access key id.
    package let id: String
    package let secret: Secret
    /// The one bucket it is for.
    package let bucket: String
    /// Keys that do not begin with it are out of its reach; empty = all.
    package let prefix: String
    package let access: Access
    /// The name of the organization that its changes belong to in the audit log; `nil` = none.
    package var organization: String?
    /// Bytes that it may store; 0 = as many as there is room for.
    package var quota: Int64 = 0
    /// For how long what it stores is kept; `nil` = until somebody deletes it.
    package var retention: Duration?

    package init(id: String, secret: Secret, bucket: String, prefix: String, access: Access) {
        self.id = id
        self.secret = secret
        self.bucket = bucket
        self.prefix = prefix
        self.access = access
    }

    /// Whether an object's key, or a list's prefix, is within reach; byte by byte.
    package func reaches(_ key: String) -> Bool { key.utf8.starts(with: prefix.utf8) }

    /// What the key may do to an object; the store asks the policy about it as about any other credentials.
    ///
    /// - Parameter uploadID: whose the object is that is there; `nil` = none.
    package func claims(to key: String, uploadID: String?) -> CredentialClaims {
        CredentialClaims(
            uploadID: uploadID ?? DirectObject.uploadID(bucket: bucket, key: key), bucket: bucket, key: key,
            operations: access == .read ? .read : [.read, .write], expiresAt: UnixTime(microseconds: .max),
            subject: .staticKey(id: id))
    }
}
