import TestSupport
import Testing

@testable import StoreProtocol

@Suite(.timeLimited) struct StoreEndpointTests {
    @Test func knowsTheRegionThatClientsSignWith() throws {
        #expect(try StoreEndpoint("http://127.0.0.1:50080/").text == "http://127.0.0.1:50080")
        #expect(try StoreEndpoint("http://127.0.0.1:50080").region.isEmpty)
        #expect(try StoreEndpoint("https://oss-cn-lab.example.com:8443").region == "cn-lab")
        #expect(try StoreEndpoint("http://gateway.local").region.isEmpty)
        #expect(try StoreEndpoint("http://oss-box").region.isEmpty)
    }

    @Test(
        arguments: [
            ("127.0.0.1:80", .noScheme), ("ftp://h", .noScheme), ("http://[::1]:80", .addressIPv6),
            ("http://::1", .addressIPv6), ("http://h/store", .pathOrQuery), ("http://h?x", .pathOrQuery),
            ("http://u@h", .pathOrQuery), ("http://", .host), ("http://A.b", .host), ("http://a..b", .host),
            ("http://h:0", .port), ("http://h:", .port), ("http://h:65536", .port),
        ] as [(String, StoreEndpoint.Malformed)])
    func refusesWhatBreaksClients(text: String, reason: StoreEndpoint.Malformed) {
        #expect(throws: reason) { try StoreEndpoint(text) }
    }
}
