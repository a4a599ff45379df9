import Accounts
import Basics
package import Crypto
package import Database

/// The keys of a data directory, and whether they are those of its database.
extension DataDirectory {
    package static let migrations = [RootKeyRecords.migration]

    /// Opens the root key, and creates it in a directory that was never served.
    ///
    /// - Throws: ``Problem``, `KeyringError`.
    package func openKeyring() throws -> Keyring {
        if isNew { try Self.requireNeverServed(path) }
        return try Keyring.open(rootKey, create: isNew)
    }

    /// Checks that the root key is the one with which the database is used; a database without a record gets it.
    ///
    /// - Throws: `KeyringError.foreign`, `DatabaseError`.
    package func require(_ keyring: Keyring, of database: Database) throws {
        switch try database.readBlocking({ try RootKeyRecords.matches(keyring, in: $0) }) {
        case true?: break
        case false?: throw foreignKey
        case nil:
            try database.writeBlocking(mayUseReserve: true) { try RootKeyRecords.record(keyring, in: $0) }
        }
    }

    /// Makes the present root key that of the database, and removes what it cannot decrypt.
    ///
    /// - Throws: `KeyringError`, `DatabaseError`.
    package func acceptRootKey(for database: Database) throws {
        let keyring = try Keyring.open(rootKey, create: false)
        try database.writeBlocking {
            try RootKeyRecords.record(keyring, in: $0)
            try Accounts.removeUnreadableSigningKeys(keyring, in: $0)
        }
    }

    /// Returns what is wrong with the keys, as sentences; changes nothing.
    ///
    /// - Parameters:
    ///   - connection: the database's; `nil` if it cannot be read.
    ///   - name: the database for people; `nil` = the file of the folder.
    package func keyProblems(_ connection: ReadConnection?, of name: String? = nil) throws -> [String] {
        guard try !hasOwnRootKey || PrivateFile.exists(keys) else {
            return ["the folder \(keys) is missing: restore it from the backup of the database"]
        }
        let keyring: Keyring
        do throws(KeyringError) {
            keyring = try Keyring.open(rootKey, create: false)
        } catch {
            return [error.description]
        }
        guard let connection else { return [] }
        guard try RootKeyRecords.matches(keyring, in: connection) != false else {
            return [KeyringError.foreign(path: rootKey, database: name ?? database).description]
        }
        return try Accounts.signingKeyProblems(keyring, in: connection)
    }

    /// Throws if a directory without a database was served before: a new database would hide that everything is gone.
    static func requireNeverServed(_ path: String) throws {
        guard let evidence = try evidenceOfServing(path) else { return }
        throw Problem(
            description: """
                the database \(path)/gateway.db is missing, but \(evidence) is there: put the database back, or restore a backup \
                with 'data-gateway restore --from FILE --data-dir \(path)'; for a new gateway, name an empty folder
                """)
    }

    /// Records that a gateway serves the folder with the keys and a database.
    package func markServed() throws(Problem) {
        let file = Self.servedFile(path)
        guard !Self.exists(file) else { return }
        do throws(PrivateFile.Failure) {
            try PrivateFile.write([], to: file)
        } catch {
            throw Problem(description: "cannot write \(file): \(error.reason)")
        }
    }

    private static func servedFile(_ path: String) -> String { path + "/served" }

    /// Returns the path of something that only a gateway makes that serves a folder; `nil` = there is nothing.
    static func evidenceOfServing(_ path: String) throws -> String? {
        for file in [path + "/store/identity", servedFile(path)] where try PrivateFile.exists(file) { return file }
        return try Accounts.hasSigningKeyFiles(inFolder: path + "/keys") ? path + "/keys" : nil
    }

    private var foreignKey: KeyringError { .foreign(path: rootKey, database: database) }
}
