import Network
import Testing

@testable import Transfer

@Suite struct StoreRefusalTests {
    /// It comes to stand in a database, a page of items and a log.
    @Test func littleIsKeptOfWhatAStoreSaysAtLength() {
        let long = String(repeating: "a\u{301}", count: 100_000)
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
}
