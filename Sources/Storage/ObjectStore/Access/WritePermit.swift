import Basics
import Database
package import StoreProtocol

/// The origin of a change, for the audit log.
package struct WriteOrigin: Sendable {
    package let operation: String
    /// The client's address.
    let peer: String

    package init(operation: String, peer: String) {
        self.operation = operation
        self.peer = peer
    }
}

/// The permission of a request to write, decided at its header and checked again inside the commit, since the upload may have been
/// aborted, superseded or completed while the body arrived.
package struct WritePermit: Sendable {
    let claims: CredentialClaims
    let policy: any AccessPolicy
    /// The operation and the client's address, of what a static key does.
    let origin: WriteOrigin?
    /// Whether the commit records the activity of the upload.
    let recordsActivity: Bool

    package init(
        claims: CredentialClaims, policy: any AccessPolicy, origin: WriteOrigin? = nil, recordsActivity: Bool = false
    ) {
        self.claims = claims
        self.policy = policy
        self.origin = origin
        self.recordsActivity = recordsActivity
    }

    /// Records the activity of the upload, if its request has not done so at its header.
    func recordActivity(in connection: Connection) throws {
        if recordsActivity { try policy.recordActivity(uploadID: claims.uploadID, in: connection) }
    }

    /// Remembers that a static key stores something at the key; other credentials have an owner anyway.
    func own(in connection: Connection) throws {
        guard case .staticKey(let id) = claims.subject else { return }
        try StoreRecords(connection).setOwner(id, uploadID: claims.uploadID)
    }

    /// Has the audit log say what a static key changed.
    ///
    /// - Parameter source: the source of a copy.
    func record(copyOf source: CredentialClaims? = nil, in connection: Connection) throws {
        guard case .staticKey(let id) = claims.subject, let origin else { return }
        var change = StaticKeyChange(
            keyID: id, operation: origin.operation, peer: origin.peer, bucket: claims.bucket, names: [claims.key])
        change.source = source?.location
        try policy.record(change, in: connection)
    }

    /// The owner under which its writes are queued.
    var owner: WorkOwner { claims.workOwner }

    /// - Returns: the part size that was issued with the upload.
    @discardableResult
    func confirm(in connection: ReadConnection) throws -> Int64 {
        switch try policy.decide(claims, in: connection) {
        case .allowed(let partSize, _): return partSize
        case .readOnly, .denied: throw ObjectStoreError.writeDenied
        case .noSuchUpload: throw ObjectStoreError.noSuchUpload
        }
    }

    /// - Throws: if the existing object does not fulfill the condition.
    func check(_ condition: WriteCondition, in connection: ReadConnection) throws {
        try condition.check(bucket: claims.bucket, key: claims.key, StoreRecords(connection))
    }

    /// - Parameter bytes: the additional bytes.
    /// - Throws: `quotaExceeded` if the upload's owner may not store them.
    func admit(bytes: Int64, in connection: ReadConnection) throws {
        guard bytes > 0, let excess = try policy.excess(claims, bytes: bytes, in: connection) else { return }
        throw ObjectStoreError.quotaExceeded(excess)
    }
}

extension CredentialClaims {
    /// The place of the object that the credentials are for.
    var place: StoredObject.Place { StoredObject.Place(bucket: bucket, key: key, uploadID: uploadID) }
}
