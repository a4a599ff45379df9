import Database

/// What a failure of the disk or the database means to a client, which may try again after either.
package enum StorageOutage: Sendable {
    /// There is no room.
    case full
    case unavailable

    /// Nil for an error that is neither's, or that trying again does not help.
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
