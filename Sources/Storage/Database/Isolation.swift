/// What a transaction sees of others that run at the same time.
///
/// SQLite has one writer, whose transactions run one after the other: there is no difference between the two then. What is
/// written here is for an engine that runs several at once.
package enum Isolation: Sendable {
    /// Nothing of them: whatever comes of them could have come of one after the other. A transaction that cannot have it so is
    /// rolled back and runs again.
    case serializable
    /// What each of its statements finds committed. What it decides by stays as it is only where it holds that:
    /// ``Connection/hold(_:_:_:)``. For transactions that many callers make of the same rows, which would otherwise run again
    /// and again.
    case rowLocks
}
