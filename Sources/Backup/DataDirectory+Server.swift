import Accounts
import Basics
package import Crypto
package import Database

/// A data directory whose database is on a server. It has the keys, and the store if that is not a bucket.
extension DataDirectory {
    /// The file that says where the database is, for people.
    static func placeFile(_ path: String) -> String { path + "/database" }

    /// Returns where the database of a folder is, if it is on a server.
    static func serverPlace(_ path: String) throws(Problem) -> String? {
        do throws(PrivateFile.Failure) {
            guard let bytes = try PrivateFile.read(placeFile(path)) else { return nil }
            return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        } catch {
            throw Problem(description: "cannot read \(error.reason)")
        }
    }

    /// Throws if the folder has a database file, or a gateway has served it with one.
    package func requireServer() throws(Problem) {
        guard isNew else {
            throw Problem(
                description: """
                    \(database) has the data of this gateway, and database.url names a server: remove database.url, or name another \
                    data directory, or copy the database to the server by 'data-gateway database copy'
                    """)
        }
    }

    /// Throws if the database of the folder is on a server.
    package func requireFile() throws(Problem) {
        guard let place = try Self.serverPlace(path) else { return }
        throw Problem(
            description: "the database of \(path) is on a server (\(place)): set database.url and database.schema to it"
        )
    }

    /// Throws if a command works on a folder whose database is on a server, and was not told which.
    static func requireFile(_ path: String) throws(Problem) {
        guard let place = try serverPlace(path) else { return }
        throw Problem(
            description:
                "the database of \(path) is on a server (\(place)): name the configuration of the gateway with --config"
        )
    }

    /// Throws unless the folder belongs to a database on a server.
    ///
    /// - Parameter place: where the database is; see `PostgresServer.place`.
    static func require(_ path: String, usedWith place: String) throws(Problem) {
        guard let own = try serverPlace(path) else {
            throw Problem(
                description: """
                    \(path) is not the data directory of a gateway with its database on a server: it has no file 'database'. Name the \
                    folder with the keys of that gateway
                    """)
        }
        guard own == place else {
            throw Problem(description: "the database of \(path) is another one (\(own)) than \(place)")
        }
    }

    /// Opens the root key for a database on a server, creates it for a new one, and records the place of the database.
    ///
    /// - Parameter place: where the database is, without a password.
    /// - Throws: ``Problem``, `KeyringError`, `DatabaseError`.
    package func openKeyring(for database: Database, at place: String) throws -> Keyring {
        let isNew = try database.readBlocking { try !RootKeyRecords.exist(in: $0) }
        if isNew, let evidence = try Self.evidenceOfServing(path) {
            throw Problem(
                description: """
                    \(place) is a new database, but \(evidence) is there: set database.url and database.schema to the database of this \
                    gateway; for a new gateway, name an empty folder
                    """)
        }
        if !hasOwnRootKey { try RootKeyFile.require(rootKey) }
        let keyring = try Keyring.open(rootKey, create: isNew && hasOwnRootKey)
        try RootKeyFile.require(keyring, from: rootKey, of: database, at: place)
        try writePlace(place)
        return keyring
    }

    /// Records where the database is.
    func writePlace(_ place: String) throws(Problem) {
        do throws(PrivateFile.Failure) {
            try PrivateFile.write(Array("\(place)\n".utf8), to: Self.placeFile(path))
        } catch {
            throw Problem(description: "cannot write \(Self.placeFile(path)): \(error.reason)")
        }
    }
}
