import Basics
import Database
import GRPCWire
import GatewayAPI
import RPC
import TimeZones

/// The sites of an organization.
struct SiteRegistry: Sendable {
    let database: Database
    let clock: any WallClock
    let zones: TimeZoneFolder

    func create(
        name: String, status: Availability, timeZone: String = "", by caller: Caller
    ) async throws -> SiteRecord {
        _ = try FieldRules.timeZone(timeZone, in: zones)
        let now = clock.now()
        return try await database.write { connection in
            let site = try SiteRecords(connection).insert(
                organizationID: caller.organization.id, name: name, status: status, timeZone: timeZone, at: now)
            guard let site else { throw RPCError.alreadyExists("a site named \"\(name)\" already exists") }
            try Audit.record(caller.did(to: "sites/\(site.id)"), at: now, in: connection)
            return site
        }
    }

    func find(_ id: Int64, for caller: Caller) async throws -> SiteRecord {
        try await database.read { connection in
            try SiteRecords(connection).find(id: id, organizationID: caller.organization.id)
        }.orNotFound("site \(id)")
    }

    /// Returns a page of the sites of the caller's organization; its cursor is a site's id.
    func list(_ page: Page, for caller: Caller) async throws -> PageRows<SiteRecord> {
        let (organizationID, first) = (caller.organization.id, Int64(page.cursor) ?? 0)
        return try await database.readPage(page.limit) { connection, limit, last in
            try SiteRecords(connection).page(organizationID: organizationID, after: last?.id ?? first, limit: limit)
        }
    }

    /// - Parameters: a value that is `nil` stays unchanged.
    func update(
        _ id: Int64, name: String? = nil, status: Availability? = nil, timeZone: String? = nil,
        silence: SilenceLimit? = nil, by caller: Caller
    ) async throws -> SiteRecord {
        if let timeZone { _ = try FieldRules.timeZone(timeZone, in: zones) }
        let now = clock.now()
        return try await database.write { connection in
            let site = try SiteRecords(connection).find(id: id, organizationID: caller.organization.id)
                .orNotFound("site \(id)")
            let name = name ?? site.name
            if let silence { try SiteRecords(connection).setSilenceLimit(silence, of: id) }
            do {
                let updated = try SiteRecords(connection).update(
                    id: id, name: name, status: status ?? site.status, timeZone: timeZone, at: now
                ).orNotFound("site \(id)")
                try Audit.record(caller.did(to: "sites/\(id)"), at: now, in: connection)
                return updated
            } catch DatabaseError.constraint(.unique, _) {
                throw RPCError.alreadyExists("a site named \"\(name)\" already exists")
            }
        }
    }

    func delete(_ id: Int64, by caller: Caller) async throws {
        let now = clock.now()
        try await database.write(mayUseReserve: true) { connection in
            _ = try SiteRecords(connection).find(id: id, organizationID: caller.organization.id)
                .orNotFound("site \(id)")
            if let key = try APIKeyRecords(connection).someKey(ofSite: id) {
                let advice =
                    if let device = key.deviceID {
                        "site \(id) still has the API key \(key.id) of device \(device): retire the device first"
                    } else {
                        "site \(id) still has the API key \(key.id): delete the key first"
                    }
                throw RPCError(bare: .failedPrecondition, advice)
            }
            do {
                try SiteRecords(connection).delete(id: id)
            } catch DatabaseError.constraint(.foreignKey, _) {
                throw RPCError(bare: .failedPrecondition, "site \(id) still has a device suite")
            }
            try Audit.record(caller.did(to: "sites/\(id)"), at: now, in: connection)
        }
    }
}

extension Optional {
    /// - Parameter what: the name of the missing thing, e.g. `site 3`.
    func orNotFound(_ what: String) throws(RPCError) -> Wrapped {
        guard let self else { throw .notFound("\(what) does not exist") }
        return self
    }
}
