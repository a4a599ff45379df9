import AppProto
import Basics
import GRPCWire
import RPC

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
