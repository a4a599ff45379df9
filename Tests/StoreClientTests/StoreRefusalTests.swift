import Basics
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPClient
@testable import StoreClient

@Suite(.timeLimited) struct StoreRefusalTests {
    /// The text is stored in a database, and shown in a page of items and a log.
    @Test func littleIsKeptOfWhatAStoreSaysAtLength() {
        let long = String(repeating: "a\u{301}", count: 5000)
        let body = "<Error><Code>\(long)</Code><Message>\(long)</Message></Error>"
        let refusal = StoreRefusal(HTTPReply(status: 403, fields: [:], body: Array(body.utf8)))
        #expect(refusal.code == String(repeating: "a\u{301}", count: 128))
        #expect(refusal.message == refusal.code)
    }

    @Test func aShortOneIsKeptWhole() {
        let body = "<Error><Code>AccessDenied</Code><Message>No.</Message></Error>"
        let refusal = StoreRefusal(HTTPReply(status: 403, fields: [:], body: Array(body.utf8)))
        #expect(refusal.description == "No. (AccessDenied)")
    }

    /// Responses of destinations that are no object stores, or hostile ones.
    @Test(arguments: [
        "<Error><a\u{0}/></Error>", "<Error><?x?></Error>", "<?x?><Error/>", "<!DOCTYPE html><html></html>", "garbage",
        "<Error>", String(repeating: "<a>", count: 20_000),
        "<Error><Code>A</Code>" + String(repeating: " ", count: 64 << 10) + "</Error>",
    ])
    func malformedErrorDocumentLeavesOnlyTheStatus(body: String) {
        let hostile = Array("<Error><a".utf8) + [0xFF] + Array("/></Error>".utf8)
        for bytes in [Array(body.utf8), Array(body.utf8) + [0xFF], hostile] {
            for reply in [
                HTTPReply(status: 403, fields: [:], body: bytes),
                HTTPReply(status: 403, fields: ["x-oss-err": Base64.encode(bytes)], body: []),
            ] {
                let refusal = StoreRefusal(reply)
                #expect(refusal == StoreRefusal(status: 403, code: "", message: ""))
            }
        }
    }
}
