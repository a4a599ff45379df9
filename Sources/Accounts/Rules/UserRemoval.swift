package import Basics
package import Database
import Synchronization

/// The removal of users with everything that refers to them, whoever asks for it.
package final class UserRemoval: Sendable {
    /// Called in the transaction, before the user is removed.
    package typealias Observer = @Sendable (UserRecord, UnixTime, Connection) throws -> Void

    private let observers = Lock<[Observer]>([])

    /// Adds work for each removal, such as messages to others whom it concerns.
    package func beforeEach(_ observer: @escaping Observer) {
        observers.withLock { $0.append(observer) }
    }

    package func remove(_ user: UserRecord, at now: UnixTime, in connection: Connection) throws {
        for observer in observers.withLock({ $0 }) { try observer(user, now, connection) }
        try UserRecords(connection).delete(id: user.id)
    }
}
