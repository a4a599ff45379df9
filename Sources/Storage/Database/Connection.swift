/// The writer's connection, which ``Database/write(_:)`` passes to its closure: it reads and writes.
package final class Connection: ReadConnection {
    /// Runs one statement; rows that it returns are ignored.
    ///
    /// - Returns: the number of changed rows.
    @discardableResult
    package func execute(_ sql: String, _ arguments: (any Bindable)?...) throws(DatabaseError) -> Int {
        try execute(sql, arguments: arguments)
    }

    /// Runs a statement whose number of arguments is known only at run time.
    @discardableResult
    package func execute(_ sql: String, arguments: [(any Bindable)?]) throws(DatabaseError) -> Int {
        let statement = try start(sql, arguments)
        defer { statement.reset() }
        while try step(statement) {}
        return statement.changedRows
    }

    /// Runs one statement, at the latest together with the next one or the commit, so that it has no round trip of its own to a server.
    ///
    /// Its failure may be that of a later statement, or of the write after its closure has ended. A closure that catches the failure
    /// uses ``execute(_:_:)``.
    package func executeSoon(_ sql: String, _ arguments: (any Bindable)?...) throws(DatabaseError) {
        try executeSoon(sql, arguments: arguments)
    }

    /// Runs a statement whose number of arguments is known only at run time, as ``executeSoon(_:_:)`` does.
    package func executeSoon(_ sql: String, arguments: [(any Bindable)?]) throws(DatabaseError) {
        let statement = try start(sql, arguments)
        defer { statement.reset() }
        try noting { () throws(DatabaseError) in try statement.runSoon() }
    }

    /// The effects that the current write has requested; see ``afterCommit(_:)``.
    private var effects: [@Sendable () -> Void] = []

    /// Runs `effect` after this write is on disk: on the writer's thread, before the caller of the write gets the result, and in
    /// the order of the calls. A write that is rolled back, or whose outcome is unknown, has no effects.
    ///
    /// This is the only way to act on a commit. `effect` must be quick; it may read the database and submit writes, but must not
    /// wait for one.
    package func afterCommit(_ effect: @escaping @Sendable () -> Void) {
        effects.append(effect)
    }

    /// Returns the effects requested since the last call.
    func takeEffects() -> [@Sendable () -> Void] {
        defer { effects = [] }
        return effects
    }
}

/// The kind of lock that a transaction has on a row.
package enum Hold: Sendable {
    /// Other transactions may hold the row as well, but none changes it.
    case shared
    /// No other transaction holds or changes the row.
    case exclusive
}

/// Row locks that a transaction keeps until its end. SQLite's writer runs transactions one after the other, so these calls do
/// nothing there; they name the rows that another engine has to lock.
///
/// All transactions lock in the same order, or two may wait for each other: the row of `uploads`, then multipart uploads, then
/// parts; names after all rows.
extension Connection {
    /// Prevents changes of the row by others until this write has ended, so that decisions based on it stay valid.
    ///
    /// - Parameters:
    ///   - table: a table with a primary key of one column. It becomes part of the statement's text, so it must be a literal.
    ///   - key: the row's primary key. If there is no such row, nothing is locked.
    package func hold(_ hold: Hold, _ table: StaticString, _ key: some Bindable) throws {}

    /// Makes other writes that hold the same name wait until this one has ended, for things without a row so far.
    package func hold(_ name: String) throws {}
}
