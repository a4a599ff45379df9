/// Whether a failure is worth a retry: the one classification of clients, copies and device uploads.
package enum FailureKind: Sendable, Hashable {
    /// Worth a retry, not before the time that the server asked for.
    case transient(after: Duration? = nil)
    case permanent
}
