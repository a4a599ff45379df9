import Basics
import Database

/// An organization's announcement of addresses, as it is stored.
struct AddressRecord: Sendable {
    let serial: Int64
    /// The serialized AddressAnnouncement.
    let message: [UInt8]
    let endsAt: UnixTime
    let isWithdrawn: Bool
    let announcedAt: UnixTime
}

/// The last announcement that a device took, as it is stored.
struct NotedSerial: Sendable {
    let serial: Int64
    let at: UnixTime
}

/// The number of an organization's devices with a key, by what they did with its announcement.
package struct AddressCounts: Sendable, Hashable {
    package let devices: Int64
    package let taken: Int64
    package let unaware: Int64
}

/// The announcements of addresses, one of each organization, and the serial numbers that devices took.
struct AddressRecords<C: ReadConnection> {
    static var migration: Migration {
        Migration(
            name: "accounts-11",
            sql: """
                -- The last announcement of an organization; message: an AddressAnnouncement.
                CREATE TABLE address_announcements (
                    organization_id INTEGER PRIMARY KEY REFERENCES organizations (id),
                    serial INTEGER NOT NULL,
                    message BLOB NOT NULL,
                    ends_at INTEGER NOT NULL,
                    is_withdrawn INTEGER NOT NULL DEFAULT 0,
                    announced_at INTEGER NOT NULL
                ) STRICT;

                -- The devices whose clients read announcements, and the last one that each took; 0 = none. noted_at: when that was
                -- written.
                CREATE TABLE device_address_serials (
                    device_id TEXT PRIMARY KEY,
                    organization_id INTEGER NOT NULL REFERENCES organizations (id),
                    serial INTEGER NOT NULL,
                    noted_at INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX device_address_serials_organization ON device_address_serials (organization_id, serial);
                """)
    }

    let connection: C

    init(_ connection: C) { self.connection = connection }

    func find(organizationID: Int64) throws -> AddressRecord? {
        try connection.first(
            """
            SELECT serial, message, ends_at, is_withdrawn, announced_at FROM address_announcements
            WHERE organization_id = $1
            """, organizationID
        ) { row in
            AddressRecord(
                serial: row.int64("serial"), message: row.blob("message"), endsAt: row.time("ends_at"),
                isWithdrawn: row.bool("is_withdrawn"), announcedAt: row.time("announced_at"))
        }
    }

    func replace(_ record: AddressRecord, organizationID: Int64) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO address_announcements (organization_id, serial, message, ends_at, is_withdrawn, announced_at)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (organization_id) DO UPDATE SET serial = excluded.serial, message = excluded.message,
                ends_at = excluded.ends_at, is_withdrawn = excluded.is_withdrawn, announced_at = excluded.announced_at
            """, organizationID, record.serial, record.message, record.endsAt.microseconds, record.isWithdrawn,
            record.announcedAt.microseconds)
    }

    func withdraw(organizationID: Int64) throws where C == Connection {
        try connection.execute(
            "UPDATE address_announcements SET is_withdrawn = 1 WHERE organization_id = $1", organizationID)
    }

    /// Returns the serial number that the device took last, and when it was noted; `nil` if its client has never sent one.
    func noted(of deviceID: String) throws -> NotedSerial? {
        try connection.first("SELECT serial, noted_at FROM device_address_serials WHERE device_id = $1", deviceID) {
            NotedSerial(serial: $0.int64("serial"), at: $0.time("noted_at"))
        }
    }

    func note(
        _ serial: Int64, of deviceID: String, organizationID: Int64, at now: UnixTime
    ) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO device_address_serials (device_id, organization_id, serial, noted_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (device_id) DO UPDATE SET serial = excluded.serial, noted_at = excluded.noted_at,
                organization_id = excluded.organization_id
            """, deviceID, organizationID, serial, now.microseconds)
    }

    func counts(organizationID: Int64, serial: Int64) throws -> AddressCounts {
        let counts = try connection.first(
            """
            SELECT count(*) AS devices, count(s.device_id) AS aware,
                count(CASE WHEN s.serial = $2 THEN 1 END) AS taken
            FROM api_keys k LEFT JOIN device_address_serials s ON s.device_id = k.device_id
            WHERE k.organization_id = $1 AND k.device_id IS NOT NULL
            """, organizationID, serial
        ) { row in
            AddressCounts(
                devices: row.int64("devices"), taken: row.int64("taken"),
                unaware: row.int64("devices") - row.int64("aware"))
        }
        return counts ?? AddressCounts(devices: 0, taken: 0, unaware: 0)
    }
}
