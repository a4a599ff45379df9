import Basics
import Database
import Synchronization

/// Removes the records of uploads that ended long ago, and the failures of attempts. Until then their clients can query the outcome;
/// afterwards the uploads are unknown.
///
/// It reads all old records once a day: records of existing objects stay, and would otherwise be read again and again for nothing.
final class UploadRetention: Sendable {
    /// The number of uploads in one read.
    private static let visits = 500
    /// The number of rows, and of uploads, that one transaction deletes while other writes wait.
    static let batch = 200
    private static let interval = Duration.days(1)

    private let database: Database
    private let age: Duration
    /// The time of the last walk, by the steady clock.
    private let walkedAt = Lock<UnixTime?>(nil)

    /// - Parameter age: the retention after an upload's last session.
    init(database: Database, age: Duration) {
        self.database = database
        self.age = age
    }

    /// - Returns: the number of removed uploads.
    func run(_ permit: DeletionPermit) async throws -> Int {
        let now = try permit.steadyNow()
        guard walkedAt.withLock({ $0.map { $0.adding(Self.interval) <= now } ?? true }) else { return 0 }
        var place = RetentionPlace.start
        var count = 0
        while true {
            try Task.checkCancellation()
            let old = try await database.read { [place] connection in
                try UploadRecords(connection).old(for: age, permit, after: place, count: Self.visits)
            }
            guard let last = old.last else { break }
            place = last.0
            var ended = old.filter(\.hasEnded).map(\.0)
            count += ended.count
            while !ended.isEmpty {
                try Task.checkCancellation()
                let done = try await forget(ended)
                ended.removeFirst(done)
            }
        }
        try await forgetFailures(permit)
        walkedAt.withLock { $0 = now }
        return count
    }

    /// Removes the failures of uploads that ended as long ago.
    private func forgetFailures(_ permit: DeletionPermit) async throws {
        var rows = Self.batch
        while rows == Self.batch {
            try Task.checkCancellation()
            rows = try await database.write(mayUseReserve: true) { [age] connection in
                try UploadRecords(connection).forgetFailures(olderThan: age, permit, limit: Self.batch)
            }
        }
    }

    /// - Returns: the number of places, from the first on, whose rows are all deleted.
    private func forget(_ places: [RetentionPlace]) async throws -> Int {
        try await database.write(mayUseReserve: true) { connection in
            let records = UploadRecords(connection)
            var (done, left) = (0, Self.batch)
            for place in places where left > 0 {
                let rows = try records.forget(logicalID: place.logicalID, limit: left)
                guard rows < left else { break }
                left -= rows + 1
                done += 1
            }
            return done
        }
    }
}
