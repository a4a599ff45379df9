import Basics
import Crypto
import Database
import GRPCWire
import GatewayAPI
import RPC

/// The management of an organization's API keys, for operators.
struct APIKeyRegistry: Sendable {
    let database: Database
    let clock: any WallClock
    let identifiers: Identifiers
    let pepper: [UInt8]

    /// - Returns: the key, and its credential, which is shown only once.
    func createSiteKey(
        site siteID: Int64, name: String, status: Availability, expiresAt: UnixTime?, by caller: Caller
    ) async throws -> (key: APIKeyRecord, credential: Secret) {
        let now = clock.now()
        try Self.checkExpiry(expiresAt, at: now)
        let token = OpaqueToken(.apiKey, id: identifiers.uuid())
        let digest = token.digest(pepper: pepper)
        return try await database.write { connection in
            _ = try SiteRecords(connection).find(id: siteID, organizationID: caller.organization.id)
                .orNotFound("site \(siteID)")
            try APIKeyRecords(connection).insert(
                NewAPIKey(
                    id: token.id, digest: digest,
                    holder: APIKeyHolder(organizationID: caller.organization.id, siteID: siteID, owner: .site),
                    name: name, status: status, expiresAt: expiresAt), at: now)
            try Audit.record(caller.did(to: "apiKeys/\(token.id)"), at: now, in: connection)
            let key = try APIKeyRecords(connection).find(id: token.id).orNotFound("key \(token.id)")
            return (key, Secret(token.text))
        }
    }

    func find(_ id: String, for caller: Caller) async throws -> APIKeyRecord {
        try await database.read { connection in
            try APIKeyRecords(connection).find(id: id, organizationID: caller.organization.id)
        }.orNotFound("key \(id)")
    }

    /// - Parameters: a filter that is `nil` matches every key.
    ///   - page: its cursor is ``cursor(after:)``.
    func list(
        siteID: Int64?, isDevices: Bool?, deviceID: String?, _ page: Page, for caller: Caller
    ) async throws -> PageRows<APIKeyRecord> {
        let (limit, first) = (page.limit, Self.place(page.cursor))
        // In the background, because few of many keys may match.
        return try await database.readInBackground { connection in
            try APIKeyRecords(connection).page(
                organizationID: caller.organization.id, siteID: siteID, isDevices: isDevices, deviceID: deviceID,
                after: first, limit: limit)
        }
    }

    /// Returns the cursor of a list that continues after a key.
    static func cursor(after key: APIKeyRecord) -> String { "\(key.createdAt.microseconds) \(key.id)" }

    private static func place(_ cursor: String) -> (createdAt: Int64, id: String)? {
        let halves = cursor.split(separator: " ", maxSplits: 1)
        guard halves.count == 2, let createdAt = Int64(halves[0]) else { return nil }
        return (createdAt, String(halves[1]))
    }

    /// A change of a key's expiry.
    enum Expiry: Sendable {
        case asItWas
        case never
        case at(UnixTime)

        func applied(to end: UnixTime?) -> UnixTime? {
            switch self {
            case .asItWas: end
            case .never: nil
            case .at(let new): new
            }
        }
    }

    /// - Parameters: a value that is `nil` stays unchanged.
    func update(
        _ id: String, name: String? = nil, status: Availability? = nil, expiry: Expiry = .asItWas, by caller: Caller
    ) async throws -> APIKeyRecord {
        if case .at(let end) = expiry { try Self.checkExpiry(end, at: clock.now()) }
        return try await change(id, by: caller) { key, now, connection in
            try APIKeyRecords(connection).update(
                id: id, name: name ?? key.name, status: status ?? key.status,
                expiresAt: expiry.applied(to: key.expiresAt),
                at: now)
        }
    }

    /// Replaces the key's secret; everything issued with the old one is invalid from the next call on.
    func rotate(_ id: String, by caller: Caller) async throws -> (key: APIKeyRecord, credential: Secret) {
        let token = OpaqueToken(.apiKey, id: id)
        let digest = token.digest(pepper: pepper)
        let key = try await change(id, by: caller) { _, now, connection in
            try APIKeyRecords(connection).rotate(id: id, digest: digest, at: now)
        }
        return (key, Secret(token.text))
    }

    func delete(_ id: String, by caller: Caller) async throws {
        let now = clock.now()
        try await database.write(mayUseReserve: true) { connection in
            _ = try APIKeyRecords(connection).find(id: id, organizationID: caller.organization.id)
                .orNotFound("key \(id)")
            try APIKeyRecords(connection).delete(id: id)
            try Audit.record(caller.did(to: "apiKeys/\(id)"), at: now, in: connection)
        }
    }

    /// Gives a device a key, and replaces an existing one.
    func createOrRotate(
        _ order: DeviceKeyOrder, devices: any DeviceDirectory, by caller: Caller
    ) async throws -> (key: APIKeyRecord, credential: Secret) {
        let now = clock.now()
        let deviceID = order.deviceID
        try Self.checkExpiry(order.expiresAt, at: now)
        let token = OpaqueToken(.apiKey, id: identifiers.uuid())
        let digest = token.digest(pepper: pepper)
        return try await database.write { connection in
            let device = try devices.device(deviceID, organizationID: caller.organization.id, in: connection)
                .orNotFound("device \(deviceID)")
            guard let place = device.place else {
                throw RPCError(bare: .failedPrecondition, "device \(deviceID) is not in a suite: add it to one first")
            }
            switch (order.mode, try APIKeyRecords(connection).find(deviceID: deviceID)) {
            case (.createOnly, .some): throw RPCError.alreadyExists("device \(deviceID) already has a key")
            case (.rotateOnly, nil): throw RPCError.notFound("device \(deviceID) has no key")
            default: try APIKeyRecords(connection).delete(deviceID: deviceID)
            }
            var fresh = NewAPIKey(
                id: token.id, digest: digest,
                holder: APIKeyHolder(
                    organizationID: place.organizationID, siteID: place.siteID,
                    owner: .device(id: deviceID, suiteID: place.suiteID)),
                name: order.name, status: order.status, expiresAt: order.expiresAt)
            fresh.isHeld = device.isDisabled
            try APIKeyRecords(connection).insert(fresh, at: now)
            try devices.noteKey(of: deviceID, at: now, in: connection)
            try Audit.record(caller.did(to: "apiKeys/\(token.id)"), at: now, in: connection)
            let key = try APIKeyRecords(connection).find(id: token.id).orNotFound("key \(token.id)")
            return (key, Secret(token.text))
        }
    }

    private func change(
        _ id: String, by caller: Caller,
        _ body: @escaping @Sendable (APIKeyRecord, UnixTime, Connection) throws -> Void
    ) async throws -> APIKeyRecord {
        let now = clock.now()
        return try await database.write { connection in
            let key = try APIKeyRecords(connection).find(id: id, organizationID: caller.organization.id)
                .orNotFound("key \(id)")
            try body(key, now, connection)
            try Audit.record(caller.did(to: "apiKeys/\(id)"), at: now, in: connection)
            return try APIKeyRecords(connection).find(id: id).orNotFound("key \(id)")
        }
    }

    private static func checkExpiry(_ end: UnixTime?, at now: UnixTime) throws(RPCError) {
        if let end, end <= now { throw .invalidArgument("expired_at must be in the future") }
    }
}

/// The values for a new device key.
struct DeviceKeyOrder: Sendable {
    let deviceID: String
    let name: String
    let status: Availability
    let expiresAt: UnixTime?
    let mode: DeviceKeyMode
}

/// The modes of CreateOrRotateDeviceApiKey.
enum DeviceKeyMode: Sendable {
    case createOrRotate
    case createOnly
    case rotateOnly
}
