package import Database

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

    let connection: ReadConnection

    /// Returns entries in the order of their keys.
    func entries(_ kind: Kind, after key: String, limit: Int) throws -> [Entry] {
        let statement: String? =
            switch kind {
            case .organization:
                "SELECT name AS key, 0 AS size FROM organizations WHERE name > $1 ORDER BY name LIMIT $2"
            case .device: "SELECT id AS key, 0 AS size FROM devices WHERE id > $1 ORDER BY id LIMIT $2"
            case .object: "SELECT file_id AS key, size FROM objects WHERE file_id > $1 ORDER BY file_id LIMIT $2"
            case .user, .site: nil
            }
        guard let statement else { return try named(kind == .user ? "users" : "sites", after: key, limit: limit) }
        return try connection.query(statement, key, limit) { Entry(key: $0.text("key"), size: $0.int64("size")) }
    }

    /// Returns entries of a table whose names are unique in an organization, one organization after the other: the tables have
    /// indexes for the names of each. The zero byte between both names keeps the order of the pairs.
    private func named(_ table: String, after key: String, limit: Int) throws -> [Entry] {
        let names = key.split(separator: "\0", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        var (organization, last) = (names[0], names.count > 1 ? names[1] : "")
        var entries: [Entry] = []
        while true {
            entries += try connection.query(
                """
                SELECT t.name FROM organizations o JOIN \(table) t ON t.organization_id = o.id
                WHERE o.name = $1 AND t.name > $2 ORDER BY t.name LIMIT $3
                """, organization, last, limit - entries.count
            ) { Entry(key: "\(organization)\0\($0.text("name"))", size: 0) }
            let next = try connection.first(
                "SELECT name FROM organizations WHERE name > $1 ORDER BY name LIMIT 1", organization
            ) { $0.text("name") }
            guard let next, entries.count < limit else { return entries }
            guard organization.utf8.lexicographicallyPrecedes(next.utf8) else {
                throw ArchiveError.altered("its database has malformed entries")
            }
            (organization, last) = (next, "")
        }
    }
}

/// The queries of a database for the files of objects.
package struct CatalogedFiles {
    private let connection: ReadConnection

    package init(connection: ReadConnection) {
        self.connection = connection
    }

    /// Returns whether an object, also one in the trash, has this file.
    package func isListed(_ fileID: String) throws -> Bool {
        try connection.hasRow("SELECT 1 FROM objects WHERE file_id = $1", fileID)
    }

    /// Returns whether the permanent deletion of an object with this file is recorded.
    package func isDeleted(_ fileID: String) throws -> Bool {
        try connection.hasRow("SELECT 1 FROM deleted_objects WHERE file_id = $1", fileID)
    }
}
