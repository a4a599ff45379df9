import Basics
import Database
import StoreProtocol

/// The permission of a request to write, decided at its header and checked again inside the commit, since the upload may have been
/// aborted, superseded or completed while the body arrived.
package struct WritePermit: Sendable {
    let claims: CredentialClaims
    let policy: any AccessPolicy

    package init(claims: CredentialClaims, policy: any AccessPolicy) {
        self.claims = claims
        self.policy = policy
    }

    /// The owner under which its writes are queued.
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

    /// - Throws: if the existing object does not fulfill the condition.
    func check(_ condition: WriteCondition, in connection: Connection) throws {
        try condition.check(bucket: claims.bucket, key: claims.key, StoreRecords(connection))
    }

    /// - Parameter bytes: the additional bytes.
    /// - Throws: `quotaExceeded` if the upload's owner may not store them.
    func admit(bytes: Int64, in connection: Connection) throws {
        guard bytes > 0, let excess = try policy.excess(claims, bytes: bytes, in: connection) else { return }
        throw ObjectStoreError.quotaExceeded(excess)
    }
}
