import Database

/// The consequence of a disk or database failure for a client, which may retry after both.
package enum StorageOutage: Sendable {
    /// There is no space.
    case full
    case unavailable

    /// Returns `nil` for other errors, and for those that a retry does not help against.
    package init?(_ error: any Error) {
        switch error {
        case StorageFailure.full, DatabaseError.full: self = .full
        case StorageFailure.unreadable, StorageFailure.other, DatabaseError.overloaded, DatabaseError.locked,
            DatabaseError.closed, DatabaseError.writerEnded:
            self = .unavailable
        default: return nil
        }
    }
}
