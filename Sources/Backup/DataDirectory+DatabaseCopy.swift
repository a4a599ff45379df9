package import Basics

/// The change of a data directory whose database is copied to a server, or from one. No gateway serves it meanwhile.
extension DataDirectory {
    /// The file into which a database is copied from a server.
    package var unfinishedDatabase: String { database + ".copying" }

    /// Opens the folder of a stopped gateway to copy its database to a server, also after a copy that was interrupted.
    ///
    /// - Parameter place: where the database is going to be; see `PostgresServer.place`.
    /// - Throws: ``Problem``, `PrivateFile.Failure`.
    package static func openForCopy(_ path: String, to place: String) throws -> DataDirectory {
        if let own = try serverPlace(path) {
            // The place is recorded before the file gets another name.
            if own == place, try PrivateFile.exists(path + "/gateway.db") { return try DataDirectory(locking: path) }
            throw Problem(
                description: """
                    the database of \(path) is on a server (\(own)): to move it to another one, copy it to the folder first, by \
                    'data-gateway database copy --from URL --to \(path)'
                    """)
        }
        return try openForRepair(path)
    }

    /// Opens the folder of a stopped gateway whose database is on a server, to copy the database into it.
    ///
    /// - Parameter place: where the database is; see `PostgresServer.place`.
    /// - Throws: ``Problem``, if the folder belongs to another database.
    package static func openForCopy(_ path: String, from place: String) throws -> DataDirectory {
        try require(path, usedWith: place)
        let directory = try DataDirectory(locking: path)
        // A copy that was interrupted at its end: no gateway serves a folder that has both.
        if !directory.isNew { try move(directory.database, to: directory.unfinishedDatabase) }
        if try PrivateFile.exists(directory.unfinishedDatabase) { try PrivateFile.remove(directory.unfinishedDatabase) }
        return directory
    }

    /// Puts the database that was copied into ``unfinishedDatabase`` in its place. From now on, it is the database of the folder.
    package func useCopiedDatabase() throws {
        try PrivateFile.synchronize(unfinishedDatabase)
        try Self.move(unfinishedDatabase, to: database)
        try PrivateFile.remove(Self.placeFile(path))
        try PrivateFile.synchronizeFolder(path)
    }

    /// Records that the database was copied to a server. The file gets another name, so that no gateway continues with it.
    ///
    /// - Parameter place: where the database is now; see `PostgresServer.place`.
    /// - Returns: the path of the file.
    package func useServer(at place: String, now: UnixTime) throws -> String {
        try writePlace(place)
        let kept = path + "/" + Self.unusedName("gateway.db.copied-", at: now, in: path)
        try Self.move(database, to: kept)
        return kept
    }
}
