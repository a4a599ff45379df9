import Database

/// All SQL that lists what a gateway's database contains, for a comparison of two.
struct DataSummaryRecords {
    /// A kind of things, each with a key that is the same in both databases.
    enum Kind: CaseIterable {
        case organization
        case user
        case site
        case device
        case object
    }

    struct Entry {
        let key: String
        /// The size in bytes; 0 for everything but objects.
        let size: Int64

        /// Whether the key is before the other in the database's order, which is that of its bytes.
        func isBefore(_ other: Entry) -> Bool { key.utf8.lexicographicallyPrecedes(other.key.utf8) }
    }

    let connection: Connection

    /// Returns entries in the order of their keys.
    func entries(_ kind: Kind, after key: String, limit: Int) throws -> [Entry] {
        try connection.query(Self.statement(kind), key, limit) {
            Entry(key: $0.text("key"), size: $0.int64("size"))
        }
    }

    private static func statement(_ kind: Kind) -> String {
        switch kind {
        case .organization:
            "SELECT name AS key, 0 AS size FROM organizations WHERE name > $1 ORDER BY name LIMIT $2"
        case .user:
            """
            SELECT o.name || '/' || u.name AS key, 0 AS size FROM users u JOIN organizations o ON o.id = u.organization_id
            WHERE o.name || '/' || u.name > $1 ORDER BY o.name || '/' || u.name LIMIT $2
            """
        case .site:
            """
            SELECT o.name || '/' || s.name AS key, 0 AS size FROM sites s JOIN organizations o ON o.id = s.organization_id
            WHERE o.name || '/' || s.name > $1 ORDER BY o.name || '/' || s.name LIMIT $2
            """
        case .device:
            "SELECT id AS key, 0 AS size FROM devices WHERE id > $1 ORDER BY id LIMIT $2"
        case .object:
            "SELECT file_id AS key, size FROM objects WHERE file_id > $1 ORDER BY file_id LIMIT $2"
        }
    }
}
