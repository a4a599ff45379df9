/// The retryability of a failure; the one classification for clients, copies and device uploads.
package enum FailureKind: Sendable, Hashable {
    /// Worth a retry, but not before the time that the server asked for.
    case transient(after: Duration? = nil)
    case permanent
}
