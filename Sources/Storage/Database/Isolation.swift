/// The visibility of concurrent transactions.
///
/// SQLite has one writer, whose transactions run one after the other, so both levels are the same there. They matter for an engine
/// with concurrent transactions.
package enum Isolation: Sendable {
    /// The result is one that some sequential order could have. A transaction for which that is impossible is rolled back and
    /// repeated.
    case serializable
    /// Each statement sees what is committed at its time. Rows stay unchanged only if the transaction locks them with
    /// ``Connection/hold(_:_:_:)``. For transactions of many callers on the same rows, which would otherwise be repeated again and
    /// again.
    case rowLocks
}
