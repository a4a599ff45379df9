/// How a transaction holds a row.
package enum Hold: Sendable {
    /// Others may hold the row as well, and nobody changes it.
    case shared
    /// No other transaction holds the row, or changes it.
    case exclusive
}

/// Locks that a transaction keeps until its end. SQLite's writer runs one transaction after the other, so there is nothing to
/// take; the calls say what another engine has to lock.
///
/// One order for all, or two transactions wait for each other: the row of `uploads`, then multipart uploads, then parts; a name
/// after every row.
extension Connection {
    /// Keeps others from changing the row until this write has ended: what is decided from here on is decided by the row as it is.
    ///
    /// - Parameters:
    ///   - table: a table whose primary key is one column. It goes into the statement's text, so it is no value.
    ///   - key: the row's primary key. Where there is no such row, nothing is held.
    package func hold(_ hold: Hold, _ table: StaticString, _ key: some Bindable) throws {
        preconditionWriting("hold")
    }

    /// Keeps other writes that hold the same name waiting until this one has ended: for what no row stands for yet.
    package func hold(_ name: String) throws {
        preconditionWriting("hold")
    }
}
