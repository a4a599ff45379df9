import Basics
import Database

/// A requested replacement of a device's key, as it is stored.
struct KeyRotation: Sendable {
    /// The digest of the key's next secret; empty until the device has fetched one.
    let nextDigest: [UInt8]
}

/// The number of devices with a key that were asked to replace it.
package struct KeyRotationCounts: Sendable, Hashable {
    package let devices: Int64
    /// The number of devices among them whose client does not rotate keys, or has not fetched a token since it does.
    package let unaware: Int64
}

/// The requests to devices to replace their keys. A request ends with its key.
struct KeyRotationRecords<C: ReadConnection> {
    static var migration: Migration {
        Migration(
            name: "accounts-12",
            sql: """
                -- The keys of devices that operators asked to replace them. next_digest: of the secret that the device fetched, and
                -- that replaces the key's when it is used first; NULL = none was fetched.
                CREATE TABLE device_key_rotations (
                    key_id TEXT PRIMARY KEY REFERENCES api_keys (id) ON DELETE CASCADE,
                    requested_at INTEGER NOT NULL,
                    next_digest BLOB
                ) STRICT;
                """)
    }

    let connection: C

    init(_ connection: C) { self.connection = connection }

    func find(keyID: String) throws -> KeyRotation? {
        try connection.first("SELECT next_digest FROM device_key_rotations WHERE key_id = $1", keyID) {
            KeyRotation(nextDigest: $0.blob("next_digest"))
        }
    }

    /// Requests a rotation of the devices' keys. A key with an earlier request keeps it, and the secret that was fetched for it.
    ///
    /// - Returns: the number of devices that have a key.
    func request(of deviceIDs: [String], at now: UnixTime) throws -> KeyRotationCounts where C == Connection {
        var counts = KeyRotationCounts(devices: 0, unaware: 0)
        for start in stride(from: 0, to: deviceIDs.count, by: Self.devicesInStatement) {
            let some = try request(ofSome: Array(deviceIDs[start...].prefix(Self.devicesInStatement)), at: now)
            counts = KeyRotationCounts(devices: counts.devices + some.devices, unaware: counts.unaware + some.unaware)
        }
        return counts
    }

    /// The largest number of devices that one statement names.
    private static var devicesInStatement: Int { 1000 }

    private func request(ofSome deviceIDs: [String], at now: UnixTime) throws -> KeyRotationCounts
    where C == Connection {
        let ids = ParameterList.padded(deviceIDs)
        try connection.execute(
            """
            INSERT INTO device_key_rotations (key_id, requested_at)
            SELECT id, CAST($1 AS BIGINT) FROM api_keys WHERE device_id IN (\(ParameterList.text(ids.count, from: 2)))
            ON CONFLICT (key_id) DO NOTHING
            """, arguments: [now.microseconds] + ids)
        let counts = try connection.query(
            """
            SELECT count(*) AS devices, count(s.device_id) AS aware
            FROM api_keys k LEFT JOIN device_address_serials s ON s.device_id = k.device_id
            WHERE k.device_id IN (\(ParameterList.text(ids.count)))
            """, arguments: ids
        ) { row in
            KeyRotationCounts(devices: row.int64("devices"), unaware: row.int64("devices") - row.int64("aware"))
        }
        return counts.first ?? KeyRotationCounts(devices: 0, unaware: 0)
    }

    /// Stores the digest of the next secret, in the place of an earlier one, if the key still has the digest that was checked.
    ///
    /// - Returns: whether it was stored.
    func setNext(_ digest: [UInt8], of key: APIKeyRecord) throws -> Bool where C == Connection {
        let stored = try connection.execute(
            """
            UPDATE device_key_rotations SET next_digest = $2
            WHERE key_id = $1 AND EXISTS (SELECT 1 FROM api_keys WHERE id = $1 AND digest = $3)
            """, key.id, digest, key.digest)
        return stored == 1
    }

    /// Makes the next secret the key's only one, and ends the request; everything issued with the old one is invalid from the next
    /// call on.
    ///
    /// - Returns: `false` if the digest is not that of the next secret any more.
    func promote(_ digest: [UInt8], of keyID: String, at now: UnixTime) throws -> Bool where C == Connection {
        let deleted = try connection.execute(
            "DELETE FROM device_key_rotations WHERE key_id = $1 AND next_digest = $2", keyID, digest)
        guard deleted == 1 else { return false }
        try connection.execute(
            "UPDATE api_keys SET digest = $2, epoch = epoch + 1, updated_at = $3 WHERE id = $1", keyID, digest,
            now.microseconds)
        return true
    }

    func delete(keyID: String) throws where C == Connection {
        try connection.execute("DELETE FROM device_key_rotations WHERE key_id = $1", keyID)
    }
}
