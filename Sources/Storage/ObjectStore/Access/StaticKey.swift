import Basics
package import Crypto
package import StoreProtocol

/// A key in the configuration for operators' own tools, valid until it is removed there.
package struct StaticKey: Sendable {
    package enum Access: String, Sendable, CaseIterable {
        /// Permits HEAD, GET and lists.
        case read
        /// Also permits PUT, multipart uploads, DELETE.
        case write
    }

    /// The access key id.
    package let id: String
    package let secret: Secret
    /// The only bucket for which it is valid.
    package let bucket: String
    /// The required prefix of objects' keys; empty = all.
    package let prefix: String
    package let access: Access
    /// The name of the organization that its changes belong to in the audit log; `nil` = none.
    package var organization: String?
    /// Bytes that it may store; 0 = no limit.
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

    /// Whether an object's key, or a list's prefix, begins with the prefix; compared by bytes.
    package func reaches(_ key: String) -> Bool { key.utf8.starts(with: prefix.utf8) }

    /// Returns the claims of the key to an object; the store evaluates the policy for them as for any other credentials.
    ///
    /// - Parameter uploadID: the upload of the existing object; `nil` = none.
    package func claims(to key: String, uploadID: String?) -> CredentialClaims {
        CredentialClaims(
            uploadID: uploadID ?? DirectObject.uploadID(bucket: bucket, key: key), bucket: bucket, key: key,
            operations: access == .read ? .read : [.read, .write], expiresAt: UnixTime(microseconds: .max),
            holder: .init(.staticKey(id: id), of: nil))
    }
}
