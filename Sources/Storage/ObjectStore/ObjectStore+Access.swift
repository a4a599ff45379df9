import Database

/// What credentials may do whose signature was right.
extension ObjectStore {
    package func decide(_ claims: CredentialClaims, _ policy: any AccessPolicy) throws -> AccessDecision {
        try database.read { try policy.decide(claims, in: $0) }
    }

    /// Remembers that an upload was touched; to be called where a decision said so.
    package func recordActivity(_ claims: CredentialClaims, _ policy: any AccessPolicy) throws {
        let uploadID = claims.uploadID
        try database.writeBlocking(for: claims.subject.workOwner, mayUseReserve: true) {
            try policy.recordActivity(uploadID: uploadID, in: $0)
        }
    }
}
