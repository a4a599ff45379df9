import Accounts
import Database
import DatabaseTesting
import GatewayTesting
import ObjectStore
import TestSupport
import Testing

@testable import Catalog

/// The positions that several indexes have.
@Suite(.timeLimited) struct PositionStreamTests {
    private let base: TestDatabase

    private var database: Database { base.database }

    init() throws {
        base = try TestDatabase(Accounts.migrations + ObjectStore.migrations + Catalog.migrations)
    }

    /// Stores an index for each of some sets of positions, of which each is named by its place.
    private func store(_ indexes: [Set<Int64>]) throws {
        try database.writeBlocking { connection in
            for (number, positions) in indexes.enumerated() {
                for position in positions {
                    try connection.executeSoon(
                        "INSERT INTO object_prefixes (organization_id, kind, prefix, position) VALUES (1, 1, $1, $2)",
                        "index-\(number)", position)
                }
            }
        }
    }

    /// Returns what all indexes have, newest first.
    private func walk(
        _ numbers: [Int], limit: Int = .max, budget: SearchBudget = SearchBudget(1_000_000)
    ) throws -> [Int64] {
        try database.readBlocking { connection in
            let streams = numbers.map { number in
                IndexStream(
                    "object_prefixes", where: ["organization_id = $1", "kind = $2", "prefix = $3"],
                    [1, 1, "index-\(number)"], connection: connection, budget: budget)
            }
            let all = IntersectionStream(streams, budget: budget)
            var found: [Int64] = []
            while found.count < limit, case .found(let position) = try all.next(below: found.last ?? .max) {
                found.append(position)
            }
            return found
        }
    }

    /// Indexes of all densities, with ranges that others lack.
    @Test(arguments: 1...8) func intersectionIsWhatAllIndexesHave(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let indexes = (0..<Int.random(in: 2...3, using: &generator)).map { _ in
            let first = Int64.random(in: 1...1500, using: &generator)
            let step = [1, 2, 3, 10, 40, 300].randomElement(using: &generator) ?? 1
            return Set(
                (first...Int64.random(in: 1500...3000, using: &generator)).filter { _ in
                    Int.random(in: 0..<step, using: &generator) == 0
                })
        }
        try store(indexes)
        let expected = indexes.dropFirst().reduce(indexes[0]) { $0.intersection($1) }.sorted(by: >)
        #expect(try walk(Array(indexes.indices)) == expected)
        #expect(try walk(indexes.indices.reversed()) == expected)
        #expect(try walk(Array(indexes.indices), limit: 3) == Array(expected.prefix(3)))
    }

    /// BEGIN and the first positions of both, then for each 128 of the rarer one whether the other has them, or its next 256.
    @Test(.onPostgres, arguments: [[0, 1], [1, 0], [1, 2], [2, 1]])
    func serverIsAskedAboutManyPositionsAtOnce(_ numbers: [Int]) throws {
        let indexes = [2, 3, 50].map { Set(stride(from: Int64($0), through: 4000, by: $0)) }
        try store(indexes)
        // Connects, and prepares the statements.
        _ = try walk(numbers, limit: 30)
        let before = database.roundTrips
        let found = try walk(numbers, limit: 30)
        let expected = indexes[numbers[0]].intersection(indexes[numbers[1]]).sorted(by: >)
        #expect(found == Array(expected.prefix(30)))
        #expect(database.roundTrips - before <= 5)
    }
}
