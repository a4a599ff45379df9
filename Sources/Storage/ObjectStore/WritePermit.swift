import Basics
import Database
import StoreProtocol

/// Permission for a request to write, as decided at its header; asked again inside the commit, since the upload may
/// have been aborted, superseded or completed while the body arrived.
package struct WritePermit: Sendable {
    let claims: CredentialClaims
    let policy: any AccessPolicy

    package init(claims: CredentialClaims, policy: any AccessPolicy) {
        self.claims = claims
        self.policy = policy
    }

    /// The owner under which its writes wait.
    var owner: WorkOwner { claims.subject.workOwner }

    /// - Returns: the part size that was issued with the upload.
    @discardableResult
    func confirm(in connection: Connection) throws -> Int64 {
        switch try policy.decide(claims, in: connection) {
        case .allowed(let partSize, _): return partSize
        case .readOnly, .denied: throw ObjectStoreError.writeDenied
        case .noSuchUpload: throw ObjectStoreError.noSuchUpload
        }
    }

    /// - Throws: where what is at the key does not fulfill the condition.
    func check(_ condition: WriteCondition, in connection: Connection) throws {
        try condition.check(bucket: claims.bucket, key: claims.key, StoreRecords(connection))
    }

    /// - Parameter bytes: that come to those which are stored.
    /// - Throws: `quotaExceeded` where the upload's owner may not have them.
    func admit(bytes: Int64, in connection: Connection) throws {
        guard bytes > 0, let excess = try policy.excess(claims, bytes: bytes, in: connection) else { return }
        throw ObjectStoreError.quotaExceeded(excess)
    }
}
