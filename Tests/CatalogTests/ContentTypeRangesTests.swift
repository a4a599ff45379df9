import RPC
import TestSupport
import Testing

@testable import Catalog

@Suite(.timeLimited) struct ContentTypeRangesTests {
    @Test func noneMeansAll() throws {
        #expect(try ContentTypeRanges([]).contain("text/plain"))
        #expect(try ContentTypeRanges(["*/*"]).contain("text/plain"))
    }

    @Test(arguments: ["text/plain", "TEXT/Plain", "text/plain;charset=utf-8", "text/plain ; charset=utf-8"])
    func parametersAndLetterCaseDoNotMatter(contentType: String) throws {
        #expect(try ContentTypeRanges(["text/plain"]).contain(contentType))
        #expect(try ContentTypeRanges(["image/png", "Text/*"]).contain(contentType))
        #expect(try !ContentTypeRanges(["text/html", "image/*"]).contain(contentType))
    }

    @Test(arguments: ["", "text", "text/", "/plain", "*/plain", "text/plain; q=1", "text/pl ain", "a/b/c"])
    func refusesWhatIsNone(range: String) throws {
        #expect(throws: RPCError.self) { try ContentTypeRanges([range]) }
    }

    @Test func moreRangesThanTheLimitAreRefused() throws {
        _ = try ContentTypeRanges([String](repeating: "a/b", count: 32))
        #expect(throws: RPCError.self) { try ContentTypeRanges([String](repeating: "a/b", count: 33)) }
        #expect(throws: RPCError.self) { try ContentTypeRanges(["a/" + String(repeating: "b", count: 254)]) }
    }
}
