import AppProto
import Basics
import Database
import GRPCWire
import GatewayAPI
import RPC

/// The search for digests that contain a text, the last changed first.
struct DigestSearch: Sendable {
    /// A page of results.
    struct Page: Sendable {
        var results: [DigestSearchResult] = []
        /// Whether there is a further page.
        var hasMore = false
    }

    private static let perMinute = 120
    /// The number of rows in one statement.
    private static let rows = 200

    private let reads: BackgroundReads
    private let clock: any WallClock
    private let throttle = Throttle(perMinute: Self.perMinute)

    init(reads: BackgroundReads, clock: any WallClock) {
        self.reads = reads
        self.clock = clock
    }

    /// - Throws: RESOURCE_EXHAUSTED beyond the limit of searches.
    func run(_ query: DigestQuery, of owner: Int64) async throws -> Page {
        if let wait = throttle.take("\(owner)", at: clock.now()) {
            throw RPCError(
                bare: .resourceExhausted, "a library can be searched \(Self.perMinute) times a minute: try again later",
                retryAfterMilliseconds: wait)
        }
        if query.keyword.isEmpty { return Page() }
        return try await reads.run { connection in
            guard let library = try LibraryGenerations(connection).records(of: owner) else { return Page() }
            return try Self.page(query, in: library)
        }
    }

    private static func page(_ query: DigestQuery, in library: LibraryRecords<some ReadConnection>) throws -> Page {
        let keyword = FoldedText(query.keyword)
        var page = Page()
        var left = query.offset
        var position = DigestPosition.newest
        while true {
            // SQLite compares texts without case for ASCII only, so it selects only texts in which case does not matter.
            let rows = try library.digests(
                query.category, containing: keyword.hasCase ? "" : query.keyword, after: position, limit: Self.rows)
            for row in rows where !FoldedText(row.content).positions(of: keyword, limit: 1).isEmpty {
                guard left == 0 else {
                    left -= 1
                    continue
                }
                guard page.results.count < DigestQuery.pageSize else {
                    page.hasMore = true
                    return page
                }
                guard let excerpt = DigestExcerpt(of: row.content, containing: keyword) else { continue }
                page.results.append(
                    DigestSearchResult(
                        id: row.position.id, content: excerpt.content, bookName: row.bookName, ranges: excerpt.ranges))
            }
            guard rows.count == Self.rows, let last = rows.last else { return page }
            position = last.position
        }
    }
}
