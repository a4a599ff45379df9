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

/// A search for digests.
struct DigestQuery: Sendable {
    private static let longestKeyword = 100
    private static let pages: ClosedRange<Int32> = 0...20_000
    /// The number of results of a page.
    static let pageSize = 5

    /// The text that a digest contains.
    let keyword: String
    /// 0 = sentences, 1 = paragraphs.
    let category: Int64
    /// The number of results before the page.
    let offset: Int

    init(_ request: SearchDigestsRequest) throws(RPCError) {
        guard request.keyword.unicodeScalars.count <= Self.longestKeyword else {
            throw RPCError(bare: .invalidArgument, "keyword must be at most \(Self.longestKeyword) characters")
        }
        switch request.type {
        case "sentence": category = 0
        case "paragraph": category = 1
        default: throw RPCError(bare: .invalidArgument, "type must be sentence or paragraph")
        }
        guard Self.pages.contains(request.page) else {
            throw RPCError(bare: .invalidArgument, "page must be 0 to \(Self.pages.upperBound)")
        }
        keyword = request.keyword
        offset = Int(request.page) * Self.pageSize
    }
}

/// The part of a digest around the hits of a search.
struct DigestExcerpt: Sendable {
    /// The number of characters before the first hit and after the last.
    private static let context = 10
    /// The largest number of hits; an excerpt ends after it.
    private static let hits = 200

    let content: String
    /// The hits in `content`, in UTF-16 code units.
    let ranges: [TextRange]

    /// `nil` if the text does not contain the keyword.
    init?(of text: String, containing keyword: FoldedText) {
        let folded = FoldedText(text)
        let length = keyword.units.count
        let hits = folded.positions(of: keyword, limit: Self.hits)
        guard let first = hits.first, let last = hits.last else { return nil }
        let units = text.utf16
        let firstStart = units.index(units.startIndex, offsetBy: first)
        let lastEnd = units.index(units.startIndex, offsetBy: last + length)
        let start = Self.character(at: firstStart, in: text, movedBy: -Self.context)
        let end = Self.character(at: lastEnd, in: text, movedBy: Self.context)
        content = String(text[start..<end])
        // The last characters may have further hits if there are too many.
        let offset = units.distance(from: units.startIndex, to: start)
        let count = units.distance(from: start, to: end)
        let inside = folded.positions(of: keyword, limit: Self.hits + Self.context).filter {
            $0 >= offset && $0 + length <= offset + count
        }
        ranges = inside.map { TextRange(start: Int32($0 - offset), length: Int32(length)) }
    }

    /// Returns the boundary at a number of characters from a position, or the end of the text in that direction.
    private static func character(
        at position: String.Index, in text: String, movedBy distance: Int
    ) -> String.Index {
        let isForward = distance > 0
        let index = boundary(at: position, in: text, isForward: isForward)
        return text.index(
            index, offsetBy: distance, limitedBy: isForward ? text.endIndex : text.startIndex)
            ?? (isForward ? text.endIndex : text.startIndex)
    }

    /// Returns the position itself, or if it is within a character, the end of the character if `isForward`, else its beginning.
    private static func boundary(at position: String.Index, in text: String, isForward: Bool) -> String.Index {
        guard position < text.endIndex else { return text.endIndex }
        // Both round a position within a character down to its beginning.
        let end = text.index(after: position)
        let start = text.index(before: end)
        return start == position || !isForward ? start : end
    }
}
