import Database

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
    /// - Parameter part: the part that the request uploads.
    package func decide(
        _ claims: CredentialClaims, _ policy: any AccessPolicy, part: PartStart? = nil
    ) throws -> AccessDecision {
        try database.readBlocking { try decide(claims, policy, part, in: $0) }
    }

    /// Evaluates the policy for a static key, whose rights to an object depend on who put it there.
    ///
    /// - Parameter name: the object's key.
    package func decide(
        _ key: StaticKey, on name: String, _ policy: any AccessPolicy, part: PartStart? = nil
    ) throws -> (claims: CredentialClaims, decision: AccessDecision, exists: Bool) {
        try database.readBlocking { connection in
            let found = try object(bucket: key.bucket, key: name, in: connection)
            let claims = key.claims(to: name, uploadID: found?.uploadID)
            return (claims, try decide(claims, policy, part, in: connection), found != nil)
        }
    }

    private func decide(
        _ claims: CredentialClaims, _ policy: any AccessPolicy, _ part: PartStart?, in connection: ReadConnection
    ) throws -> AccessDecision {
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
}
