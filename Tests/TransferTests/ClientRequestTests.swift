import Network
import Platform
import Testing

@testable import ObjectStore

/// What the client signs, the store takes: by the store's own rules, which other clients' requests prove.
@Suite struct ClientRequestTests {
    private let secret = Secret("secret")

    private func request(
        _ key: String, query: [(name: String, value: String)] = [], fields: HTTPFields = [:],
        endpoint: String = "http://127.0.0.1:50080", region: String = ""
    ) throws -> ClientRequest? {
        ClientRequest(
            "PUT", bucket: "b-1", key: key, query: query, fields: fields, at: try StoreEndpoint(endpoint),
            region: region,
            credentials: TemporaryCredentials(
                accessKeyID: "AK", secret: secret, securityToken: "token", expiresAt: UnixTime(seconds: 9)),
            now: UnixTime(seconds: 1_767_225_600))
    }

    private func isTaken(_ request: ClientRequest, domains: [String] = []) throws -> Bool {
        let rest = request.url.dropFirst("http://".count)
        let host = rest.prefix { $0 != "/" }
        let target = try RequestTarget(String(rest.dropFirst(host.count)), host: String(host), domains: domains)
        let signed = SignedRequest(method: request.method, target: target, fields: request.fields)
        return try OSSAuthentication(request: signed).read().isSigned(signed, by: secret)
    }

    @Test(arguments: ["k", "uploads/2026/11/21/019", "a b/ü+&?#%/日本//x/", "~-_."])
    func theStoreTakesWhatIsSigned(key: String) throws {
        for query in [[], [("uploads", "")], [("partNumber", "3"), ("uploadId", "a+/= b")]] {
            let request = try #require(
                try request(key, query: query, fields: ["Content-MD5": "AAAA", "Content-Type": "text/plain"]))
            #expect(try isTaken(request))
        }
    }

    @Test func aNameGoesBeforeTheHost() throws {
        let request = try #require(
            try request("k", endpoint: "http://oss-local.example.com", region: "local"))
        #expect(request.url == "http://b-1.oss-local.example.com/k")
        #expect(try isTaken(request, domains: ["oss-local.example.com"]))
        #expect(try self.request("k", endpoint: "http://localhost:1")?.url == "http://localhost:1/b-1/k")
    }

    @Test(arguments: ["", "/k", "a/../b", "a\u{0}"])
    func whatIsNoKeyIsNotSigned(key: String) throws {
        #expect(try request(key) == nil)
    }
}
