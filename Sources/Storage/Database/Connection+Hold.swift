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
