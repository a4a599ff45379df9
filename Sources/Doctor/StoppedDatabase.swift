package import Database

/// The database of a stopped gateway.
package enum StoppedDatabase: Sendable {
    /// A SQLite file, which is opened for each call.
    case file(String)
    /// A database on a server, to which this process has the right; `place` is for people.
    case server(Database, place: String)

    var name: String {
        switch self {
        case .file(let path): path
        case .server(_, let place): place
        }
    }

    var isFile: Bool { if case .file = self { true } else { false } }

    /// Runs `body` on the rows, and changes nothing.
    func inspect<T>(_ body: (ReadConnection) throws -> T) throws -> T {
        switch self {
        case .file(let path): try Database.inspect(path: path, body)
        case .server(let database, _): try database.readBlocking(body)
        }
    }

    /// Runs `body` with the database.
    func writing<T>(_ migrations: [Migration], _ body: (Database) throws -> T) throws -> T {
        try opening(migrations) { try body(try $0()) }
    }

    /// Runs `body` with a function that opens the database when it is first called.
    func opening<T>(_ migrations: [Migration], _ body: (() throws -> Database) throws -> T) throws -> T {
        switch self {
        case .file(let path):
            var opened: Database?
            defer { opened?.close() }
            return try body {
                let database = try opened ?? Database(path: path, migrations: migrations)
                opened = database
                return database
            }
        case .server(let database, _): return try body { database }
        }
    }
}
