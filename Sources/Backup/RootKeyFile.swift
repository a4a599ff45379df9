import Basics
package import Crypto
package import Database

/// The file with the root key of a database on a server, which each gateway of the database has.
package enum RootKeyFile {
    /// Throws if the file is missing. A gateway does not make it: another one may have one already.
    static func require(_ path: String) throws {
        guard try !PrivateFile.exists(path) else { return }
        throw DataDirectory.Problem(
            description: """
                the root key \(path) (database.root_key_file) is missing: copy the file from another gateway of this database, or, for \
                a new database, make it once by 'data-gateway cluster init'
                """)
    }

    /// Throws unless the root key is the one with which the database is used, if there is a record of one.
    static func require(_ keyring: Keyring, from path: String, of database: Database, at place: String) throws {
        let recorded = try database.readBlocking { try RootKeyRecords.checkValue(in: $0) }
        guard let recorded, !constantTimeEqual(recorded, keyring.checkValue) else { return }
        throw foreign(keyring, path, recorded, place)
    }

    /// Makes the root key of a new database once. Another program may do the same at the same time: the first one decides.
    ///
    /// - Parameters:
    ///   - path: the file. If it exists, its key is used.
    ///   - place: where the database is, for messages.
    /// - Returns: the key of the database.
    /// - Throws: `DataDirectory.Problem`, `KeyringError`, `DatabaseError`. A file that this call has made is removed if the database has another key.
    package static func make(_ path: String, for database: Database, at place: String) throws -> Keyring {
        let isRecorded = try database.readBlocking { try RootKeyRecords.exist(in: $0) }
        if isRecorded { try require(path) }
        let isMade = try !isRecorded && makeFile(path)
        do {
            let keyring = try Keyring.open(path, create: false)
            try database.writeBlocking { connection in
                guard let recorded = try RootKeyRecords.checkValue(in: connection) else {
                    return try RootKeyRecords.record(keyring, in: connection)
                }
                if !constantTimeEqual(recorded, keyring.checkValue) { throw foreign(keyring, path, recorded, place) }
            }
            return keyring
        } catch let error as DataDirectory.Problem {
            // The database has another key. After any other error, such as a commit in doubt, it may have this one.
            if isMade { try PrivateFile.remove(path) }
            throw error
        }
    }

    /// - Returns: false if the file exists.
    private static func makeFile(_ path: String) throws -> Bool {
        try PrivateFile.makeFolders(Path.folder(of: path))
        return try PrivateFile.writeNew(Random.bytes(Keyring.rootLength), to: path)
    }

    private static func foreign(
        _ keyring: Keyring, _ path: String, _ recorded: [UInt8], _ place: String
    ) -> DataDirectory.Problem {
        DataDirectory.Problem(
            description: """
                the root key \(path) is not that of the database \(place), which would refuse every device: put back the keys that \
                belong to this database (the file has the fingerprint \(keyring.fingerprint), the database \
                \(Keyring.fingerprint(ofCheckValue: recorded)))
                """)
    }
}
