/// A connection that only reads: the connection of ``Database/read(_:)``, and what ``Connection`` has in common with it. One thread
/// at a time uses it, and it must not leave the closure that received it.
///
/// A read cannot change anything: this type has no method that does, a statement that writes fails with ``DatabaseError/misuse(_:)``
/// when it is prepared, and SQLite has the file open for reading only.
///
/// Parameters are `$1`, `$2`, … and are bound by number, so they may be repeated and in any order. Prepared statements are cached
/// by their SQL text: use constant texts, and never put values into them.
package class ReadConnection {
    final let session: DatabaseSession

    /// Whether a statement of the running closure has failed; `nil` = none runs. The closure has to end with an error then: PostgreSQL
    /// refuses all further statements. SQLite would run and commit them, outside the transaction if the failure has rolled it back.
    private final var closureHasFailed: Bool?

    init(_ session: DatabaseSession) {
        self.session = session
    }

    /// Returns all rows, in the order of the statement.
    package final func query<T>(
        _ sql: String, _ arguments: (any Bindable)?..., row: (Row) throws -> T
    ) throws -> [T] {
        try query(sql, arguments: arguments, row: row)
    }

    /// Returns all rows of a statement whose number of arguments is known only at run time.
    package final func query<T>(
        _ sql: String, arguments: [(any Bindable)?], row: (Row) throws -> T
    ) throws -> [T] {
        let statement = try start(sql, arguments)
        defer { statement.reset() }
        var rows: [T] = []
        while try step(statement) { rows.append(try row(Row(statement: statement))) }
        return rows
    }

    /// Reads the rows one at a time, so that a server does not send all of them at once.
    final func forEach(_ sql: String, arguments: [(any Bindable)?], row: (Row) throws -> Void) throws {
        let statement = try start(sql, arguments, mayStopEarly: true)
        defer { statement.reset() }
        while try step(statement) { try row(Row(statement: statement)) }
    }

    /// Returns the first row without reading further ones; `nil` for an empty result.
    package final func first<T>(
        _ sql: String, _ arguments: (any Bindable)?..., row: (Row) throws -> T
    ) throws -> T? {
        let statement = try start(sql, arguments, mayStopEarly: true)
        defer { statement.reset() }
        return try step(statement) ? row(Row(statement: statement)) : nil
    }

    /// Whether a statement has a row; it is not read further.
    package final func hasRow(_ sql: String, _ arguments: (any Bindable)?...) throws(DatabaseError) -> Bool {
        let statement = try start(sql, arguments, mayStopEarly: true)
        defer { statement.reset() }
        return try step(statement)
    }

    /// Runs the closure of a transaction, or of a part with its own savepoint.
    ///
    /// - Throws: also ``DatabaseError/misuse(_:)`` if a statement failed and `body` did not.
    final func requiringStatements<T>(_ body: () throws -> T) throws -> T {
        closureHasFailed = false
        defer { closureHasFailed = nil }
        let value = try body()
        if closureHasFailed == true { throw Self.continued }
        return value
    }

    private static let continued = DatabaseError.misuse(
        "a transaction continues after one of its statements has failed")

    /// Whether a transaction is open. The engine may end one by rolling it back after an error.
    final var isInTransaction: Bool { session.isInTransaction }

    /// - Parameter mayStopEarly: whether not all rows may be read.
    final func start(
        _ sql: String, _ arguments: [(any Bindable)?], mayStopEarly: Bool = false
    ) throws(DatabaseError) -> Statement {
        if closureHasFailed == true { throw Self.continued }
        let statement = try session.statement(sql)
        try statement.bind(arguments)
        statement.mayStopEarly = mayStopEarly
        statement.isRunning = true
        return statement
    }

    final func step(_ statement: Statement) throws(DatabaseError) -> Bool {
        do {
            return try statement.step()
        } catch {
            if closureHasFailed != nil { closureHasFailed = true }
            throw error
        }
    }

    /// Whether the database is on a server. A statement of its own for a server finds the newest version of a counter there.
    package final var isOnServer: Bool { session.isRemote }

    /// Runs `body`, and notes that a statement has failed if it does.
    final func noting(_ body: () throws(DatabaseError) -> Void) throws(DatabaseError) {
        do {
            try body()
        } catch {
            if closureHasFailed != nil { closureHasFailed = true }
            throw error
        }
    }

    /// Sends the statements of `body` to a server in one message. The rows are those of the same statements with the same arguments
    /// that this transaction runs next.
    ///
    /// `body` is called to find the statements, which have no rows in it, and its own failure is ignored. It has no effects, and is not
    /// called if the database is a file. Whatever it runs has to be run afterwards, before anything else changes rows.
    package final func together(_ body: () throws -> Void) throws(DatabaseError) {
        guard session.isRemote else { return }
        if closureHasFailed == true { throw Self.continued }
        try noting { () throws(DatabaseError) in try session.sendTogether(body) }
    }
}
