import Basics
import Database

/// Removes the records of uploads that ended long ago. Until then their clients are told what became of them, and after
/// that they are as if they had never been.
///
/// Once a day it walks over all that is old enough: records of objects that are still there stay, and would be looked at
/// for nothing more often.
final class UploadRetention: Sendable {
    /// Uploads that are looked at in one read.
    private static let visits = 500
    /// Rows of one upload, and uploads, that one transaction deletes: other writes wait meanwhile.
    static let batch = 200
    private static let interval = Duration.days(1)

    private let database: Database
    private let age: Duration
    /// By the steady clock.
    private let walkedAt = Lock<UnixTime?>(nil)

    /// - Parameter age: how long a record stays after its upload's last session.
    init(database: Database, age: Duration) {
        self.database = database
        self.age = age
    }

    /// - Returns: how many uploads went.
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
        walkedAt.withLock { $0 = now }
        return count
    }

    /// - Returns: how many of the first have no row any more.
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
