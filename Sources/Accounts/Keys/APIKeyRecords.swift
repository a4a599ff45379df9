package import Basics
package import Database

/// Whether a key may be used, and if not, the first reason.
package enum KeyUsability: Sendable, Hashable {
    case usable
    /// Disabled by an operator, or held because its device is disabled or unbound.
    case disabled
    case expired
    case siteDisabled
}

/// The kind of owner of a key.
package enum APIKeyOwner: Sendable, Hashable {
    case site
    case device(id: String, suiteID: Int64)
}

package struct APIKeyRecord: Sendable {
    package let id: String
    package let organizationID: Int64
    package let siteID: Int64
    package let owner: APIKeyOwner
    package let name: String
    package let digest: [UInt8]
    package let status: Availability
    let isHeld: Bool
    package let epoch: Int64
    let expiresAt: UnixTime?
    let lastUsedAt: UnixTime?
    let siteStatus: Availability
    let createdAt: UnixTime

    func usability(at now: UnixTime) -> KeyUsability {
        if status == .disabled || isHeld { return .disabled }
        if let expiresAt, expiresAt <= now { return .expired }
        return siteStatus == .disabled ? .siteDisabled : .usable
    }

    var principal: KeyOwner {
        let key = APIKeyReference(id: id, epoch: epoch)
        switch owner {
        case .site:
            return .site(SitePrincipal(siteID: siteID, organizationID: organizationID, key: key))
        case .device(let device, let suite):
            return .device(
                DevicePrincipal(
                    deviceID: device, suiteID: suite, siteID: siteID, organizationID: organizationID, key: key))
        }
    }
}

/// The owner of a key, with its organization and site.
package struct APIKeyHolder: Sendable {
    package let organizationID: Int64
    package let siteID: Int64
    package let owner: APIKeyOwner

    package init(organizationID: Int64, siteID: Int64, owner: APIKeyOwner) {
        self.organizationID = organizationID
        self.siteID = siteID
        self.owner = owner
    }
}

/// A key to be stored.
package struct NewAPIKey: Sendable {
    package let id: String
    package let digest: [UInt8]
    package let holder: APIKeyHolder
    package let name: String
    package let status: Availability
    /// Whether the key is held because its device is disabled.
    package var isHeld = false
    package let expiresAt: UnixTime?

    package init(
        id: String, digest: [UInt8], holder: APIKeyHolder, name: String, status: Availability,
        expiresAt: UnixTime? = nil
    ) {
        self.id = id
        self.digest = digest
        self.holder = holder
        self.name = name
        self.status = status
        self.expiresAt = expiresAt
    }
}

/// The epoch combines those of the key and its site in one number, which either increases. A key that moves to another site was
/// held before, so its own epoch is higher by then.
private let select = """
    SELECT k.id, k.organization_id, k.site_id, k.owner_kind, k.device_id, k.suite_id, k.name, k.digest, k.status,
        k.is_held, (k.epoch << 32) + s.epoch AS epoch, k.expires_at, k.last_used_at, s.status AS site_status,
        k.created_at
    FROM api_keys k JOIN sites s ON s.id = k.site_id
    """

/// Built once, because it is used at each call.
private let byID = "\(select) WHERE k.id = $1"

package struct APIKeyRecords<C: ReadConnection> {
    let connection: C

    package init(_ connection: C) {
        self.connection = connection
    }

    package func find(id: String) throws -> APIKeyRecord? {
        try connection.first(byID, id, row: Self.record)
    }

    package func find(id: String, organizationID: Int64) throws -> APIKeyRecord? {
        try connection.first(
            "\(select) WHERE k.id = $1 AND k.organization_id = $2", id, organizationID, row: Self.record)
    }

    package func find(deviceID: String) throws -> APIKeyRecord? {
        try connection.first("\(select) WHERE k.device_id = $1", deviceID, row: Self.record)
    }

    package func insert(_ key: NewAPIKey, at now: UnixTime) throws where C == Connection {
        var deviceID: String?
        var suiteID: Int64?
        let holder = key.holder
        if case .device(let device, let suite) = holder.owner { (deviceID, suiteID) = (device, suite) }
        try connection.execute(
            """
            INSERT INTO api_keys (id, organization_id, site_id, owner_kind, device_id, suite_id, name, digest, status,
                is_held, expires_at, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)
            """, key.id, holder.organizationID, holder.siteID, deviceID == nil ? 1 : 2, deviceID, suiteID, key.name,
            key.digest, key.status.rawValue, key.isHeld, key.expiresAt?.microseconds, now.microseconds)
    }

    /// Inserts a device's key if its site is enabled and the device has no other key.
    ///
    /// - Returns: whether it was inserted.
    package func insert(
        id: String, for place: DeviceKeys.Place, digest: [UInt8], at now: UnixTime
    ) throws -> Bool where C == Connection {
        let inserted = try connection.execute(
            """
            INSERT INTO api_keys (id, organization_id, site_id, owner_kind, device_id, suite_id, name, digest, status,
                created_at, updated_at)
            SELECT $1, organization_id, id, 2, $4, $5, $4, $6, $7, $8, $8 FROM sites
            WHERE id = $2 AND organization_id = $3 AND status = $7
            ON CONFLICT DO NOTHING
            """, id, place.siteID, place.organizationID, place.deviceID, place.suiteID, digest,
            Availability.enabled.rawValue, now.microseconds)
        return inserted == 1
    }

    /// Deletes a key if the columns that the decision depends on are unchanged since they were read.
    ///
    /// - Returns: whether it was deleted.
    package func delete(_ key: APIKeyRecord) throws -> Bool where C == Connection {
        let deleted = try connection.execute(
            """
            DELETE FROM api_keys WHERE id = $1 AND status = $2 AND is_held = $3
                AND coalesce(expires_at, -1) = $4 AND coalesce(last_used_at, -1) = $5
            """, key.id, key.status.rawValue, key.isHeld, key.expiresAt?.microseconds ?? -1,
            key.lastUsedAt?.microseconds ?? -1)
        return deleted == 1
    }

    /// Updates a key. Disabling increases the epoch, so that everything issued before stays invalid after the key is enabled again.
    package func update(
        id: String, name: String, status: Availability, expiresAt: UnixTime?, at now: UnixTime
    ) throws where C == Connection {
        try connection.execute(
            """
            UPDATE api_keys SET name = $2, status = $3, expires_at = $4, updated_at = $5,
                epoch = epoch + (CASE WHEN CAST($3 AS BIGINT) = 2 THEN 1 ELSE 0 END)
            WHERE id = $1
            """, id, name, status.rawValue, expiresAt?.microseconds, now.microseconds)
    }

    /// Replaces the secret, and ends a request to the device to do so; the epoch increases, and the key counts as never used.
    package func rotate(id: String, digest: [UInt8], at now: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            UPDATE api_keys SET digest = $2, epoch = epoch + 1, last_used_at = NULL, updated_at = $3 WHERE id = $1
            """, id, digest, now.microseconds)
        try KeyRotationRecords(connection).delete(keyID: id)
    }

    package func delete(id: String) throws where C == Connection {
        try connection.execute("DELETE FROM api_keys WHERE id = $1", id)
    }

    /// Returns the organization's keys that match all parts of the filter that are not `nil`, by their creation.
    ///
    /// - Parameter key: the key after which the page begins; `nil` = from the first one on.
    package func page(
        organizationID: Int64, siteID: Int64?, isDevices: Bool?, deviceID: String?,
        after key: (createdAt: Int64, id: String)? = nil, limit: PageLimit
    ) throws -> PageRows<APIKeyRecord> {
        try connection.page(
            limit,
            """
            \(select) WHERE k.organization_id = $1 AND (CAST($2 AS BIGINT) IS NULL OR k.site_id = $2)
                AND (CAST($3 AS BIGINT) IS NULL OR k.owner_kind = $3)
                AND (CAST($4 AS TEXT) IS NULL OR k.device_id = $4)
                AND (k.created_at > $5 OR k.created_at = $5 AND k.id > $6)
            ORDER BY k.created_at, k.id LIMIT $7
            """, organizationID, siteID, isDevices.map { $0 ? 2 : 1 }, deviceID, key?.createdAt ?? .min,
            key?.id ?? "", limit.statementRows, row: Self.record)
    }

    /// Returns the id of any key of the site, and its device; `nil` = the site's own.
    package func someKey(ofSite siteID: Int64) throws -> (id: String, deviceID: String?)? {
        try connection.first("SELECT id, device_id FROM api_keys WHERE site_id = $1 LIMIT 1", siteID) {
            (id: $0.text("id"), deviceID: $0.optionalText("device_id"))
        }
    }

    /// Holds or releases the device's key, if it has one. Holding increases the epoch.
    package func setHeld(deviceID: String, _ isHeld: Bool, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            UPDATE api_keys SET is_held = $2, updated_at = $3, epoch = epoch + $2 WHERE device_id = $1
            """, deviceID, isHeld, now.microseconds)
    }

    package func move(
        deviceID: String, suiteID: Int64, siteID: Int64, at now: UnixTime
    ) throws where C == Connection {
        try connection.execute(
            "UPDATE api_keys SET suite_id = $2, site_id = $3, updated_at = $4 WHERE device_id = $1", deviceID, suiteID,
            siteID, now.microseconds)
    }

    package func delete(deviceID: String) throws where C == Connection {
        try connection.execute("DELETE FROM api_keys WHERE device_id = $1", deviceID)
    }

    package func noteUse(id: String, at time: UnixTime) throws where C == Connection {
        try connection.execute("UPDATE api_keys SET last_used_at = $2 WHERE id = $1", id, time.microseconds)
    }

    private static func record(_ row: Row) -> APIKeyRecord {
        APIKeyRecord(
            id: row.text("id"), organizationID: row.int64("organization_id"), siteID: row.int64("site_id"),
            owner: row.int64("owner_kind") == 1
                ? .site : .device(id: row.text("device_id"), suiteID: row.int64("suite_id")), name: row.text("name"),
            digest: row.blob("digest"), status: Availability(rawValue: row.int64("status")) ?? .disabled,
            isHeld: row.bool("is_held"),
            epoch: row.int64("epoch"), expiresAt: row.optionalTime("expires_at"),
            lastUsedAt: row.optionalTime("last_used_at"),
            siteStatus: Availability(rawValue: row.int64("site_status")) ?? .disabled, createdAt: row.time("created_at")
        )
    }
}
