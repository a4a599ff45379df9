import Database
package import StoreProtocol

/// The rights of credentials with a valid signature.
extension ObjectStore {
    /// Begins the upload of a part; the result is passed to ``decide(_:_:part:)``.
    ///
    /// - Parameter length: the length of the body in bytes; `nil` if it is not declared.
    package func startPart(_ number: Int, of multipartID: String, length: Int64?) -> PartStart {
        PartStart(writes, part: number, of: multipartID, length: length)
    }

    /// Evaluates the policy, in one read of everything that a request's header needs.
    ///
    /// - Parameters:
    ///   - part: the part that the request uploads.
    ///   - readsObject: whether the request reads the object.
    package func decide(
        _ claims: CredentialClaims, _ policy: any AccessPolicy, part: PartStart? = nil, readsObject: Bool = false
    ) throws -> DecidedAccess {
        try database.readBlocking { connection in
            let decision = try decide(claims, policy, part, in: connection)
            let object =
                readsObject && decision.isVisible
                ? try object(bucket: claims.bucket, key: claims.key, in: connection) : nil
            return DecidedAccess(claims: claims, decision: decision, object: object)
        }
    }

    /// Evaluates the policy for a static key, whose rights to an object depend on who put it there.
    ///
    /// - Parameter name: the object's key.
    package func decide(
        _ key: StaticKey, on name: String, _ policy: any AccessPolicy, part: PartStart? = nil
    ) throws -> DecidedAccess {
        try database.readBlocking { try decide(key, on: name, policy, part, in: $0) }
    }

    /// Evaluates the policy for a static key that copies an object.
    ///
    /// - Parameters:
    ///   - source: the key of the copy's source; `nil` = the static key may not use it.
    ///   - name: the key of the copy.
    package func decide(
        _ key: StaticKey, on name: String, copyOf source: String?, _ policy: any AccessPolicy
    ) throws -> (copy: DecidedAccess, source: DecidedAccess?) {
        try database.readBlocking { connection in
            var copy = try decide(key, on: name, policy, nil, in: connection)
            let from = try source.map { try decide(key, on: $0, policy, nil, in: connection) }
            let bytes = (from?.object?.size ?? 0) - (copy.object?.size ?? 0)
            if bytes > 0 { copy.excess = try policy.excess(copy.claims, bytes: bytes, in: connection) }
            return (copy, from)
        }
    }

    private func decide(
        _ key: StaticKey, on name: String, _ policy: any AccessPolicy, _ part: PartStart?,
        in connection: ReadConnection
    ) throws -> DecidedAccess {
        let found = try object(bucket: key.bucket, key: name, in: connection)
        let claims = key.claims(to: name, uploadID: found?.uploadID)
        return DecidedAccess(
            claims: claims, decision: try decide(claims, policy, part, in: connection), object: found)
    }

    private func decide(
        _ claims: CredentialClaims, _ policy: any AccessPolicy, _ part: PartStart?, in connection: ReadConnection
    ) throws -> AccessDecision {
        if let part {
            try connection.together {
                try policy.readAhead(claims, in: connection)
                try part.readAhead(in: connection)
            }
        }
        let decision = try policy.decide(claims, in: connection)
        if case .allowed = decision { try part?.read(claims, policy, in: connection) }
        return decision
    }

    /// Records activity of an upload, if a decision requires it.
    package func recordActivity(_ claims: CredentialClaims, _ policy: any AccessPolicy) throws {
        let uploadID = claims.uploadID
        try database.writeBlocking(for: claims.workOwner, mayUseReserve: true) {
            try policy.recordActivity(uploadID: uploadID, in: $0)
        }
    }

    /// Records the activity of the upload of a request that ends without the commit which would have recorded it. If that fails, the
    /// next request records its own.
    package func recordActivity(of permit: WritePermit) {
        guard permit.recordsActivity else { return }
        let (policy, uploadID) = (permit.policy, permit.claims.uploadID)
        database.submit(for: permit.owner, mayUseReserve: true) {
            try policy.recordActivity(uploadID: uploadID, in: $0)
        } reply: { _ in
        }
    }
}

/// A decision about a request, with the row that was read for it.
package struct DecidedAccess: Sendable {
    package let claims: CredentialClaims
    package let decision: AccessDecision
    /// The object at the key of the claims; `nil` if it does not exist or was not read.
    package let object: StoredObject?
    /// The quota that a copy to the key would exceed; see ``AccessPolicy/excess(_:bytes:in:)``.
    package fileprivate(set) var excess: String?
}
