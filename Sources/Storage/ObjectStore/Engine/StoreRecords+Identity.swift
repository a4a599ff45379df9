package import Database

/// The row that says which files belong to the database.
extension StoreRecords {
    package func identity() throws -> (id: String, generation: Int64)? {
        try connection.first("SELECT id, generation FROM store_identity") {
            ($0.text("id"), $0.int64("generation"))
        }
    }

    /// Whether nothing was ever stored.
    package func isEmpty() throws -> Bool {
        try connection.first(
            "SELECT EXISTS (SELECT 1 FROM store_objects) OR EXISTS (SELECT 1 FROM store_multiparts) AS holds_any"
        ) { !$0.bool("holds_any") } ?? true
    }

    /// Returns the data folders' digest at a clean stop, if nothing has happened since.
    package func foldersAtStop() throws -> String? {
        try connection.first("SELECT stopped_with FROM store_identity") { $0.optionalText("stopped_with") } ?? nil
    }

    /// Records for the next start that all files and rows agree.
    package func setFoldersAtStop(_ digest: String) throws where C == Connection {
        try connection.execute("UPDATE store_identity SET stopped_with = $1", digest)
    }

    /// Sets the identity, and deletes the record of a clean stop.
    package func setIdentity(_ id: String, generation: Int64) throws where C == Connection {
        let count = try connection.execute(
            "UPDATE store_identity SET id = $1, generation = $2, stopped_with = NULL", id, generation)
        guard count == 0 else { return }
        try connection.execute("INSERT INTO store_identity (id, generation) VALUES ($1, $2)", id, generation)
    }
}
