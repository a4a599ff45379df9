import Database
import TestSupport
import Testing

@testable import Webhooks

@Suite(.timeLimited) struct DeadLettersTests {
    private func pages(_ sizes: [Int], limit: Int) async throws -> [Int] {
        let scene = try Scene()
        for (number, size) in sizes.enumerated() {
            try scene.happens(to: "\(number)", payload: String(repeating: "x", count: size))
        }
        for delivery in try scene.due() { try scene.record(delivery, .dead(reason: "no")) }
        let letters = DeadLetters(database: scene.database, clock: scene.clock, webhooks: ["a"], signals: [])
        var (counts, seen, hasMore) = ([Int](), [String](), true)
        while hasMore {
            let cursor = seen.last ?? ""
            let page = try await letters.page(of: "", after: cursor, limit: PageLimit(rows: limit), scope: nil)
            counts.append(page.rows.count)
            seen += page.rows.map(\.cursor)
            hasMore = page.hasMore
        }
        #expect(Set(seen).count == sizes.count && seen.count == sizes.count)
        return counts
    }

    @Test func aPageHasSoMany() async throws {
        #expect(try await pages(Array(repeating: 2, count: 40), limit: 1000) == [40])
        #expect(try await pages(Array(repeating: 2, count: 40), limit: 17) == [17, 17, 6])
        #expect(try await pages(Array(repeating: 2, count: 40), limit: 20) == [20, 20])
        #expect(try await pages(Array(repeating: 2, count: 32), limit: 16) == [16, 16])
        #expect(try await pages([], limit: 1) == [0])
    }

    /// Clients limit messages, mostly to 4 MiB: a longer page could never be read.
    @Test func aPageHasNoMoreBytesThanAMessageHolds() async throws {
        #expect(try await pages(Array(repeating: 500_000, count: 5), limit: 1000) == [2, 2, 1])
        #expect(try await pages([2_000_000, 2, 2], limit: 1000) == [1, 2])
        #expect(try await pages([2, 2_000_000, 2], limit: 1000) == [1, 1, 1])
    }
}
