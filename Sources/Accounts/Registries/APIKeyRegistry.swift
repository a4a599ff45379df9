import Database
import Platform
import RPC

/// The API keys of an organization, as its operators see them.
struct APIKeyRegistry: Sendable {
    let database: Database
    let clock: any WallClock
    let identifiers: Identifiers
    let pepper: [UInt8]

    /// - Returns: the key, and its credential, which is shown this once.
    func createSiteKey(
        site siteID: Int64, name: String, status: Availability, expiresAt: UnixTime?, by caller: Caller
    ) async throws -> (key: APIKeyRecord, credential: Secret) {
        let now = clock.now()
        if let expiresAt, expiresAt <= now { throw RPCError.invalidArgument("expired_at must be in the future") }
        let token = OpaqueToken(.apiKey, id: identifiers.uuid())
        let digest = token.digest(pepper: pepper)
        let key = try await database.write { connection in
            _ = try SiteRecords.find(id: siteID, organizationID: caller.organization.id, in: connection)
                .orNotFound("site \(siteID)")
            try APIKeyRecords.insert(
                id: token.id, organizationID: caller.organization.id, siteID: siteID, owner: .site, name: name,
                digest: digest, status: status, expiresAt: expiresAt, at: now, in: connection)
            try Audit.record(caller.did(to: "apiKeys/\(token.id)"), at: now, in: connection)
            return try APIKeyRecords.find(id: token.id, in: connection).orNotFound("key \(token.id)")
        }
        return (key, Secret(token.text))
    }

    func find(_ id: String, for caller: Caller) throws -> APIKeyRecord {
        try database.read { connection in
            try APIKeyRecords.find(id: id, organizationID: caller.organization.id, in: connection)
        }.orNotFound("key \(id)")
    }

    func setStatus(_ id: String, _ status: Availability, by caller: Caller) async throws -> APIKeyRecord {
        let now = clock.now()
        return try await database.write { connection in
            _ = try APIKeyRecords.find(id: id, organizationID: caller.organization.id, in: connection)
                .orNotFound("key \(id)")
            try APIKeyRecords.setStatus(id: id, status, at: now, in: connection)
            try Audit.record(caller.did(to: "apiKeys/\(id)"), at: now, in: connection)
            return try APIKeyRecords.find(id: id, in: connection).orNotFound("key \(id)")
        }
    }
}
