import Accounts
import Basics
import Database
import GRPCWire
import GatewayAPI
import RPC

/// The management of an organization's devices and suites, for operators.
///
/// A device's key is updated in the same transaction: it is held while the device is disabled or unbound.
struct DeviceRegistry: Sendable {
    /// The number of attempts to find a free id. A day has a million ids, so more are needed only if nearly all are used.
    private static let idDraws = 20

    let database: Database
    let keys: DeviceKeys
    let clock: any WallClock
    let uploads: any DeviceUploads
    /// The duration of the permission by ``allowReinit(_:by:)``.
    let reinitWindow: Duration

    func createSuite(
        siteID: Int64, displayName: String, description: String, by caller: Caller
    ) async throws -> SuiteRecord {
        let now = clock.now()
        return try await database.write { connection in
            guard try keys.siteStatus(siteID, organizationID: caller.organization.id, in: connection) != nil else {
                throw RPCError.notFound("site \(siteID) does not exist")
            }
            let suite = try SuiteRecords(connection).insert(
                organizationID: caller.organization.id, siteID: siteID, displayName: displayName,
                description: description, at: now)
            guard let suite else { throw RPCError(.internalError, "the gateway could not store the suite") }
            try Audit.record(caller.did(to: ResourceName.suite(suite.id)), at: now, in: connection)
            return suite
        }
    }

    func suite(_ id: Int64, for caller: Caller) async throws -> SuiteRecord {
        try await database.read { try suite(id, of: caller, in: $0) }
    }

    /// Returns a page of suites; its cursor is a suite's id.
    func suites(siteID: Int64?, _ page: Page, for caller: Caller) async throws -> PageRows<SuiteRecord> {
        let (organizationID, first) = (caller.organization.id, Int64(page.cursor) ?? 0)
        return try await list(page, skipsRows: siteID != nil) { connection, limit, last in
            try SuiteRecords(connection).page(
                organizationID: organizationID, siteID: siteID, after: last?.id ?? first, limit: limit)
        }
    }

    /// Reads a page, in the background if its filter may skip many rows between two that match.
    private func list<Entry: Sendable>(
        _ page: Page, skipsRows: Bool,
        _ body: @escaping @Sendable (ReadConnection, PageLimit, Entry?) throws -> PageRows<Entry>
    ) async throws -> PageRows<Entry> {
        let limit = page.limit
        guard skipsRows else { return try await database.readPage(limit, body) }
        return try await database.readInBackground { try body($0, limit, nil) }
    }

    /// - Parameters:
    ///   - displayName: `nil` = unchanged.
    ///   - description: `nil` = unchanged.
    ///   - silence: `nil` = unchanged.
    func describeSuite(
        _ id: Int64, displayName: String?, description: String?, silence: SilenceLimit?, by caller: Caller
    ) async throws -> SuiteRecord {
        let now = clock.now()
        return try await database.write { connection in
            let old = try suite(id, of: caller, in: connection)
            try SuiteRecords(connection).describe(
                id, displayName: displayName ?? old.displayName, description: description ?? old.description, at: now)
            if let silence { try SuiteRecords(connection).setSilenceLimit(silence, of: id) }
            try Audit.record(caller.did(to: ResourceName.suite(id)), at: now, in: connection)
            return try suite(id, of: caller, in: connection)
        }
    }

    func deleteSuite(_ id: Int64, by caller: Caller) async throws {
        let now = clock.now()
        try await database.write(mayUseReserve: true) { connection in
            _ = try suite(id, of: caller, in: connection)
            if let device = try SuiteRecords(connection).someDevice(of: id) {
                throw RPCError(
                    bare: .failedPrecondition,
                    "\(ResourceName.suite(id)) still has \(ResourceName.device(device))")
            }
            try SuiteRecords(connection).delete(id)
            try Audit.record(caller.did(to: ResourceName.suite(id)), at: now, in: connection)
        }
    }

    /// - Parameter requestedID: `nil` assigns an id of today.
    func register(
        _ requestedID: DeviceID?, _ labels: DeviceLabels, suiteID: Int64?, by caller: Caller
    ) async throws -> DeviceRecord {
        let now = clock.now()
        return try await database.write { connection in
            if let suiteID { _ = try suite(suiteID, of: caller, in: connection) }
            func insert(_ id: DeviceID) throws -> Bool {
                try DeviceRecords(connection).insert(
                    id, labels, organizationID: caller.organization.id, suiteID: suiteID, at: now)
            }
            var registered: DeviceID?
            if let requestedID {
                guard try insert(requestedID) else {
                    let other = try DeviceRecords(connection).find(requestedID, organizationID: caller.organization.id)
                    throw RPCError.alreadyExists(
                        other?.retiredAt == nil
                            ? "device \(requestedID.text) already exists" : DeviceRules.retired(requestedID.text))
                }
                registered = requestedID
            } else {
                for _ in 0..<Self.idDraws where registered == nil {
                    let id = try DeviceID.assigned(at: now)
                    if try insert(id) { registered = id }
                }
            }
            guard let registered else {
                throw RPCError(
                    bare: .failedPrecondition, "the gateway found no free device id for today: set device_id")
            }
            return try finish(registered, by: caller, at: now, in: connection)
        }
    }

    func device(_ id: DeviceID, for caller: Caller) async throws -> DeviceRecord {
        try await database.read { connection in
            try device(id, of: caller, in: connection)
        }
    }

    /// Returns a page of devices; its cursor is a position in the order.
    ///
    /// - Parameter withLastUpload: whether they have the times of their latest uploads.
    func devices(
        _ filter: DeviceFilter, by order: DeviceOrder, withLastUpload: Bool, _ page: Page, for caller: Caller
    ) async throws -> PageRows<ListedDevice> {
        let (organizationID, first) = (caller.organization.id, try page.cursor { order.position($0) })
        let latestUpload = LatestUpload(sql: uploads.latestUpload, isListed: withLastUpload)
        let skipsRows = filter != DeviceFilter() || withLastUpload
        return try await list(page, skipsRows: skipsRows) { connection, limit, last in
            try DeviceRecords(connection).page(
                organizationID: organizationID, filter: filter, by: order, after: last?.position ?? first, limit: limit,
                latestUpload: latestUpload)
        }
    }

    /// Returns the display names of those of the organization's devices that have one.
    func displayNames(of ids: [String], for caller: Caller) async throws -> [String: String] {
        let organizationID = caller.organization.id
        guard !ids.isEmpty else { return [:] }
        return try await database.readInBackground { connection in
            try DeviceRecords(connection).displayNames(of: ids, organizationID: organizationID)
        }
    }

    func describe(_ id: DeviceID, _ change: DeviceEdit, by caller: Caller) async throws -> DeviceRecord {
        try await self.change(id, by: caller) { device, now, connection in
            try DeviceRecords(connection).setLabels(
                try change.labels(of: device), of: id, organizationID: caller.organization.id, at: now)
            if let silence = change.silence {
                try DeviceRecords(connection).setSilenceLimit(silence, of: id, at: now)
            }
        }
    }

    func enable(_ id: DeviceID, by caller: Caller) async throws -> DeviceRecord {
        try await change(id, by: caller) { device, now, connection in
            try Self.requireInUse(device)
            try DeviceRecords(connection).setDisabled(id, false, at: now)
            if device.suiteID != nil { try keys.release(id.text, at: now, in: connection) }
        }
    }

    func disable(_ id: DeviceID, by caller: Caller) async throws -> DeviceRecord {
        try await change(id, by: caller) { device, now, connection in
            try Self.requireInUse(device)
            try DeviceRecords(connection).setDisabled(id, true, at: now)
            try keys.hold(id.text, at: now, in: connection)
        }
    }

    /// Permits the device to replace a key in use, for some minutes.
    func allowReinit(_ id: DeviceID, by caller: Caller) async throws -> DeviceRecord {
        try await change(id, by: caller) { device, now, connection in
            try Self.requireInUse(device)
            // The permission would have no effect.
            if device.initializedAt != nil, try keys.state(of: device.id, at: now, in: connection) == nil {
                throw RPCError(
                    bare: .failedPrecondition,
                    "\(ResourceName.device(id.text)) has no key: \(InitializationRule.lackOfKey(device))")
            }
            let end = now.adding(reinitWindow)
            try DeviceRecords(connection).allowReinit(id, until: end, at: now)
        }
    }

    func bind(_ id: DeviceID, toSuite suiteID: Int64, by caller: Caller) async throws -> DeviceRecord {
        try await change(id, by: caller) { device, now, connection in
            try Self.requireInUse(device)
            let suite = try suite(suiteID, of: caller, in: connection)
            if let bound = device.suiteID {
                throw RPCError(
                    bare: .failedPrecondition,
                    "\(ResourceName.device(id.text)) is in \(ResourceName.suite(bound)): remove it from there first")
            }
            try DeviceRecords(connection).bind(id, toSuite: suiteID, at: now)
            let place = DeviceKeys.Place(
                deviceID: id.text, suiteID: suiteID, siteID: suite.siteID, organizationID: suite.organizationID)
            try keys.move(to: place, at: now, in: connection)
            if !device.isDisabled { try keys.release(id.text, at: now, in: connection) }
        }
    }

    func unbind(_ id: DeviceID, fromSuite suiteID: Int64, by caller: Caller) async throws -> DeviceRecord {
        try await change(id, by: caller) { device, now, connection in
            _ = try suite(suiteID, of: caller, in: connection)
            guard device.suiteID == suiteID else {
                throw RPCError(
                    bare: .failedPrecondition,
                    "\(ResourceName.device(id.text)) is not in \(ResourceName.suite(suiteID))")
            }
            try DeviceRecords(connection).bind(id, toSuite: nil, at: now)
            try keys.hold(id.text, at: now, in: connection)
        }
    }

    /// Retires a device: its key, its uploads and its place end, and its row stays for the objects that name it.
    func retire(_ id: DeviceID, by caller: Caller) async throws -> DeviceRecord {
        let now = clock.now()
        return try await database.write(mayUseReserve: true) { connection in
            let device = try device(id, of: caller, in: connection)
            guard device.retiredAt == nil else { return device }
            try DeviceRecords(connection).retire(id, at: now)
            try keys.delete(id.text, in: connection)
            try uploads.abort(
                ofDevice: id.text, reason: "the device was retired by \(caller.user.name)",
                by: caller.did(to: ResourceName.device(id.text)).actor, at: now, in: connection)
            return try finish(id, by: caller, at: now, in: connection)
        }
    }

    /// Makes a retired device a registered one, in no suite.
    func unretire(_ id: DeviceID, by caller: Caller) async throws -> DeviceRecord {
        try await change(id, by: caller) { device, now, connection in
            guard device.retiredAt != nil else {
                throw RPCError(bare: .failedPrecondition, "\(ResourceName.device(id.text)) is not retired")
            }
            try DeviceRecords(connection).unretire(id, at: now)
        }
    }

    private static func requireInUse(_ device: DeviceRecord) throws(RPCError) {
        guard device.retiredAt == nil else {
            throw RPCError(
                bare: .failedPrecondition, "\(ResourceName.device(device.id)) is retired: unretire it first")
        }
    }

    func delete(_ id: DeviceID, by caller: Caller) async throws {
        let now = clock.now()
        try await database.write(mayUseReserve: true) { connection in
            let device = try device(id, of: caller, in: connection)
            // Uploads and objects in other modules' tables refer to its id as long as they exist.
            guard device.initializedAt == nil, !device.hadKey else {
                throw RPCError(
                    bare: .failedPrecondition,
                    "\(ResourceName.device(id.text)) has received a key, and objects may refer to it: retire it instead"
                )
            }
            try DeviceRecords(connection).delete(id)
            try Audit.record(caller.did(to: ResourceName.device(id.text)), at: now, in: connection)
        }
    }

    private func change(
        _ id: DeviceID, by caller: Caller,
        _ body: @escaping @Sendable (DeviceRecord, UnixTime, Connection) throws -> Void
    ) async throws -> DeviceRecord {
        let now = clock.now()
        return try await database.write { connection in
            try body(try device(id, of: caller, in: connection), now, connection)
            return try finish(id, by: caller, at: now, in: connection)
        }
    }

    private func finish(
        _ id: DeviceID, by caller: Caller, at now: UnixTime, in connection: Connection
    ) throws -> DeviceRecord {
        try Audit.record(caller.did(to: ResourceName.device(id.text)), at: now, in: connection)
        return try device(id, of: caller, in: connection)
    }

    func device(_ id: DeviceID, of caller: Caller, in connection: ReadConnection) throws -> DeviceRecord {
        let device = try DeviceRecords(connection).find(id, organizationID: caller.organization.id)
        guard let device else { throw RPCError.notFound("device \(id.text) does not exist") }
        return device
    }

    func suite(_ id: Int64, of caller: Caller, in connection: ReadConnection) throws -> SuiteRecord {
        let suite = try SuiteRecords(connection).find(id, organizationID: caller.organization.id)
        guard let suite else { throw RPCError.notFound("\(ResourceName.suite(id)) does not exist") }
        return suite
    }
}

/// The change of a device by UpdateDevice; a value that is `nil` stays.
struct DeviceEdit: Sendable {
    let displayName: String?
    let description: String?
    /// Added to the device's tags, or instead of them.
    let tags: [String: String]
    let replacesTags: Bool
    let silence: SilenceLimit?

    /// - Throws: INVALID_ARGUMENT if the device would have too many tags.
    func labels(of device: DeviceRecord) throws(RPCError) -> DeviceLabels {
        let tags = replacesTags ? tags : device.tags.merging(tags) { _, new in new }
        try DeviceRules.tags(tags)
        return DeviceLabels(
            displayName: displayName ?? device.displayName, description: description ?? device.description, tags: tags)
    }
}
