import Database

private let relationTables = [
    (name: "library_authorship", key: "creator, book, kind"), (name: "library_tagging", key: "tag, digest"),
]

/// The condition for the index `libraries_left`.
private let leftCondition = "is_current = 0 OR owner IS NULL"

/// The libraries of all owners. An import makes the next one of an owner beside the current one, so that it needs no long
/// transaction, and readers see the one or the other. With its owner's account, a library loses its owner, and with that its readers.
struct LibraryGenerations<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// Returns the records of an owner's library; `nil` = the owner has none yet.
    func records(of owner: Int64) throws -> LibraryRecords<C>? {
        try current(of: owner).map { LibraryRecords(connection, library: $0) }
    }

    func current(of owner: Int64) throws -> Int64? {
        try connection.first("SELECT id FROM libraries WHERE owner = $1 AND is_current = 1", owner) { $0.int64("id") }
    }

    /// Makes an empty library that is not current.
    func insert(for owner: Int64) throws -> Int64 where C == Connection {
        let id = try connection.first(
            "INSERT INTO libraries (owner, is_current) VALUES ($1, 0) RETURNING id", owner
        ) { $0.int64("id") }
        guard let id else { throw DatabaseError.misuse("an INSERT with RETURNING returned no row") }
        return id
    }

    /// Makes a library the owner's, in place of the one before.
    func makeCurrent(_ id: Int64, of owner: Int64) throws where C == Connection {
        try connection.execute("UPDATE libraries SET is_current = 0 WHERE owner = $1 AND is_current = 1", owner)
        let count = try connection.execute(
            "UPDATE libraries SET is_current = 1 WHERE id = $1 AND owner = $2", id, owner)
        guard count == 1 else { throw ArchiveFailure.archive("账号已被删除") }
    }

    /// Returns libraries that nobody reads, with their owners; `nil` = the owner's account was deleted.
    func left(limit: Int) throws -> [(id: Int64, owner: Int64?)] {
        try connection.query("SELECT id, owner FROM libraries WHERE \(leftCondition) ORDER BY id LIMIT $1", limit) {
            (id: $0.int64("id"), owner: $0.optionalInt64("owner"))
        }
    }

    /// Removes a batch of the rows of a library that nobody reads, and the library itself after the last one.
    ///
    /// - Returns: whether some may be left.
    func removeBatch(of id: Int64) throws -> Bool where C == Connection {
        let isLeft = try connection.hasRow("SELECT 1 FROM libraries WHERE id = $1 AND (\(leftCondition))", id)
        guard isLeft else { return false }
        let records = LibraryRecords(connection, library: id)
        for table in LibraryTable.allCases {
            let rows = try records.ids(table, limit: RowBatches.rows)
            guard let batch = RowBatches.ranges(of: rows, size: \.size).first else { continue }
            try records.remove(table, through: rows[batch.upperBound - 1].id)
            return true
        }
        for table in relationTables {
            let count = try connection.execute(
                """
                DELETE FROM \(table.name) WHERE library = $1 AND (\(table.key)) IN (
                    SELECT \(table.key) FROM \(table.name) WHERE library = $1 ORDER BY \(table.key) LIMIT $2)
                """, id, RowBatches.rows)
            if count > 0 { return true }
        }
        try connection.execute("DELETE FROM libraries WHERE id = $1", id)
        return false
    }
}
