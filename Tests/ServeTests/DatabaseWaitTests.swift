import Basics
import Database
import Synchronization
import TestSupport
import Testing

@testable import Serve

/// The wait of a gateway that starts for its database.
@Suite(.timeLimited) struct DatabaseWaitTests {
    /// Attempts to open a database, with the result of each; the last one is that of all further attempts.
    private final class Attempts: Sendable {
        private let results: Lock<[Result<Int, DatabaseError>]>
        private let made = Lock(0)
        let lines = Lock<[String]>([])

        init(_ results: Result<Int, DatabaseError>...) {
            self.results = Lock(results)
        }

        var count: Int { made.withLock { $0 } }

        func wait(limit: Duration, pause: Duration = .zero, then after: @escaping @Sendable () -> Void = {})
            async throws -> Int
        {
            let log = Logger { [self] line in lines.withLock { $0.append(line) } }
            return try await DatabaseWait(place: "db", limit: limit, log: log, pause: pause).run {
                made.withLock { $0 += 1 }
                defer { after() }
                return try results.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }.get()
            }
        }
    }

    private static let refused = DatabaseError.unavailable("refused")
    private static let readOnly = DatabaseError.unavailable("session is read-only")

    @Test func opensTheDatabaseOnceItIsAvailable() async throws {
        let attempts = Attempts(
            .failure(Self.refused), .failure(Self.refused), .failure(Self.readOnly), .success(7))
        #expect(try await attempts.wait(limit: .seconds(1000)) == 7)
        #expect(attempts.count == 4)
        // Each reason has one line.
        let lines = attempts.lines.withLock { $0 }
        #expect(lines.count == 3)
        #expect(lines[0].contains("waits for its database") && lines[0].contains("refused"))
        #expect(lines[1].contains("waits for its database") && lines[1].contains("read-only"))
        #expect(lines[2].contains("the database is available") && lines[2].contains("db"))
    }

    @Test func endsWithTheErrorAtTheLimit() async {
        let attempts = Attempts(.failure(Self.refused))
        await #expect(throws: Self.refused) { try await attempts.wait(limit: .milliseconds(20)) }
        #expect(attempts.count > 1)
        let none = Attempts(.failure(Self.refused))
        await #expect(throws: Self.refused) { try await none.wait(limit: .zero) }
        #expect(none.count == 1 && none.lines.withLock { $0.isEmpty })
    }

    @Test func otherErrorsEndItAtOnce() async {
        for error in [DatabaseError.unsuitable("no"), .newerSchema(migration: "9"), .locked] {
            let attempts = Attempts(.failure(error))
            await #expect(throws: error) { try await attempts.wait(limit: .seconds(1000)) }
            #expect(attempts.count == 1)
        }
    }

    @Test func cancellationEndsIt() async {
        let attempts = Attempts(.failure(Self.refused))
        let waiting = Task {
            try await attempts.wait(limit: .seconds(1_000_000), pause: .seconds(100_000)) {
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(attempts.count == 1)
    }
}
