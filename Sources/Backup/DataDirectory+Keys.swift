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
        return try Keyring.open(directory: keys, create: isNew)
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

    /// Makes the present root key that of the database.
    ///
    /// - Throws: `KeyringError`, `DatabaseError`.
    package func acceptRootKey(for database: Database) throws {
        let keyring = try Keyring.open(directory: keys, create: false)
        try database.writeBlocking { try RootKeyRecords.record(keyring, in: $0) }
    }

    /// Returns what is wrong with the keys, as sentences; changes nothing.
    ///
    /// - Parameters:
    ///   - connection: the database's; `nil` if it cannot be read.
    ///   - name: the database for people; `nil` = the file of the folder.
    package func keyProblems(_ connection: ReadConnection?, of name: String? = nil) throws -> [String] {
        guard try PrivateFile.exists(keys) else {
            return ["the folder \(keys) is missing: restore it from the backup of the database"]
        }
        var problems: [String] = []
        do throws(KeyringError) {
            let keyring = try Keyring.open(directory: keys, create: false)
            let isOwn = try? connection.flatMap { try RootKeyRecords.matches(keyring, in: $0) }
            if isOwn == false {
                problems.append(KeyringError.foreign(path: keys + "/root", database: name ?? database).description)
            }
        } catch {
            problems.append(error.description)
        }
        return problems + (try Accounts.signingKeyProblems(inFolder: keys))
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

    /// Returns the path of something that only a gateway makes that serves a folder; `nil` = there is nothing.
    static func evidenceOfServing(_ path: String) throws -> String? {
        let identity = path + "/store/identity"
        if try PrivateFile.exists(identity) { return identity }
        return try Accounts.hasSigningKeys(inFolder: path + "/keys") ? path + "/keys" : nil
    }

    private var foreignKey: KeyringError { .foreign(path: keys + "/root", database: database) }
}
