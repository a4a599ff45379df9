import Basics
import Crypto
import HTTPTypes
import TestSupport
import Testing

@testable import StoreProtocol

/// The store accepts the client's signatures by its own rules, which requests of other clients verify.
@Suite(.timeLimited) struct ClientRequestTests {
    private let secret = Secret("secret")

    private func request(
        _ key: String, query: [(name: String, value: String)] = [], fields: HTTPFields = [:],
        endpoint: String = "http://127.0.0.1:50080", region: String = ""
    ) throws -> ClientRequest? {
        ClientRequest(
            "PUT", StoreObject(endpoint: try StoreEndpoint(endpoint), region: region, bucket: "b-1", key: key),
            query: query, fields: fields,
            credentials: SigningCredentials(accessKeyID: "AK", secret: secret, securityToken: "token"),
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

    @Test(arguments: ["k", "a b/ü+&?#%/日本//x/", "~-_."])
    func requestSignedForS3IsAccepted(key: String) throws {
        for (endpoint, host) in [
            ("http://127.0.0.1:50080", "127.0.0.1:50080"), ("https://s3.example.com:443", "s3.example.com"),
        ] {
            let request = try #require(
                ClientRequest(
                    "PUT",
                    StoreObject(
                        endpoint: try StoreEndpoint(endpoint), region: "us-east-1", bucket: "b-1", key: key,
                        dialect: .s3),
                    query: [("partNumber", "3"), ("uploads", "")], fields: ["Content-MD5": "AAAA"],
                    credentials: SigningCredentials(accessKeyID: "AK", secret: secret),
                    now: UnixTime(seconds: 1_767_225_600)))
            let path = try #require(request.url.firstRange(of: "/b-1/"))
            var fields = request.fields
            fields.append("Host", host)
            let signed = SignedRequest(
                method: "PUT",
                target: try RequestTarget(String(request.url[path.lowerBound...]), host: host, domains: []),
                fields: fields)
            let authentication = try S3Authentication(request: signed, publicAuthority: nil).read()
            #expect(authentication.isSigned(signed, by: secret) && authentication.securityToken == nil)
            #expect(!authentication.isSigned(signed, by: Secret("another")))
        }
    }

    @Test(arguments: ["", "/k", "a/../b", "a\u{0}"])
    func invalidKeyIsNotSigned(key: String) throws {
        #expect(try request(key) == nil)
    }
}
