import Basics
import Crypto
import HTTPTestClient
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ObjectStore
@testable import StoreProtocol
@testable import StoreServer

@Suite(.timeLimited) struct ProvenRequestsTests {
    /// Returns a target presigned with `Signature` over these fields and the host.
    private func target(
        _ store: TestStore, _ dialect: StoreClient.Dialect, signing names: [String] = [], _ fields: HTTPFields = [:]
    )
        throws -> String
    {
        let claims = store.claims(lifetime: 100_000)
        let credentials = store.store.issuer.issue(claims)
        let date = Timestamps.basic(store.clock.now())
        let scope = SignatureV4.Scope(day: String(date.prefix(8)), region: "r")
        let all = (names + (dialect == .s3 ? ["host"] : [])).sorted()
        let (v4, prefix): (SignatureV4, String) = dialect == .s3 ? (.s3, "X-Amz-") : (.oss, "x-oss-")
        let names: [(String, String)] =
            dialect == .s3
            ? [
                ("Algorithm", v4.algorithm), ("SignedHeaders", all.joined(separator: ";")), ("Security-Token", ""),
                ("Credential", ""), ("Date", date), ("Expires", "900"),
            ]
            : [
                ("signature-version", v4.algorithm), ("additional-headers", all.joined(separator: ";")),
                ("security-token", ""), ("credential", ""), ("date", date), ("expires", "900"),
            ]
        let query = names.map { name, value in
            let text =
                switch name.lowercased() {
                case "security-token": credentials.securityToken
                case "credential": "\(credentials.accessKeyID)/\(v4.text(of: scope))"
                default: value
                }
            return "\(prefix)\(name)=\(URLEncoding.encode(text))"
        }.joined(separator: "&")
        let target = "/\(claims.bucket)/\(claims.key)?\(query)"
        var signed = fields
        signed.append("Host", "h")
        let request = SignedRequest(
            method: "GET", target: try RequestTarget(target, host: "h", domains: []), fields: signed)
        let scheme: any SignatureScheme =
            dialect == .s3
            ? S3Signature(scope: scope, date: date, signedFields: all, payload: "UNSIGNED-PAYLOAD", otherHosts: [])
            : OSSSignatureV4(scope: scope, date: date, signedFields: all)
        let code = Hex.lower(scheme.signatures(of: request, secret: credentials.secret)[0])
        return "\(target)&\(prefix)\(dialect == .s3 ? "Signature" : "signature")=\(code)"
    }

    private func get(
        _ store: TestStore, _ target: String, _ fields: [String] = [], method: String = "GET", host: String = "h"
    ) throws -> RawConnection.Response {
        let connection = try RawConnection(port: store.server.port)
        let lines = ["\(method) \(target) HTTP/1.1", "Host: \(host)"] + fields + ["", ""]
        try connection.send(lines.joined(separator: "\r\n"))
        return try connection.response(toHead: method == "HEAD")
    }

    private func filled() throws -> TestStore {
        let store = try TestStore(inMemory: true)
        _ = try store.client().put(content(1000))
        return store
    }

    @Test(arguments: [StoreClient.Dialect.oss, .s3])
    func answersTheSameRequestAgainForOtherRanges(dialect: StoreClient.Dialect) throws {
        let store = try filled()
        let target = try target(store, dialect)
        for first in [0, 5, 998] {
            let response = try get(store, target, ["Range: bytes=\(first)-\(first + 1)"])
            #expect(response.status == 206)
            #expect(response.body == Array(content(1000)[first...(first + 1)]))
        }
        #expect(try get(store, target).body == content(1000))
        let requestID = dialect == .s3 ? "x-amz-request-id" : "x-oss-request-id"
        #expect(try get(store, target).fields[requestID] != nil)
    }

    @Test(arguments: [StoreClient.Dialect.oss, .s3])
    func asksEachTimeWhatIsStillPermitted(dialect: StoreClient.Dialect) throws {
        let store = try filled()
        let target = try target(store, dialect)
        #expect(try get(store, target).status == 200)
        store.policy.decision.withLock { $0 = .denied }
        #expect(try get(store, target).error == "403 AccessDenied")
        store.policy.decision.withLock { $0 = .readOnly(needsActivity: false) }
        #expect(try get(store, target).status == 200)
        store.clock.advance(seconds: 900)
        let late = try get(store, target)
        #expect(late.error == "403 AccessDenied")
        #expect(try late.element("Message") == "Request has expired.")
    }

    @Test func endsWithTheClaimsToo() throws {
        let store = try filled()
        let endpoint = try StoreEndpoint("http://h")
        let url = try store.store.issuer.presignedGet(
            store.claims(lifetime: 30), at: endpoint, .init(from: store.clock.now(), for: .seconds(30))
        ).url
        let target = String(url.dropFirst("http://h".count))
        #expect(try get(store, target).status == 200)
        store.clock.advance(seconds: 30)
        #expect(try get(store, target).error == "403 AccessDenied")
    }

    @Test(arguments: [StoreClient.Dialect.oss, .s3])
    func provesAgainWhatIsSigned(dialect: StoreClient.Dialect) throws {
        let store = try filled()
        let target = try target(store, dialect, signing: ["range"], ["Range": "bytes=0-1"])
        for _ in 0..<2 { #expect(try get(store, target, ["Range: bytes=0-1"]).body == Array(content(1000)[0...1])) }
        #expect(try get(store, target, ["Range: bytes=0-2"]).error == "403 SignatureDoesNotMatch")
        #expect(try get(store, target).error == "403 SignatureDoesNotMatch")
    }

    @Test func provesAgainWhatIsSignedUnasked() throws {
        let store = try filled()
        let (oss, s3) = (try target(store, .oss), try target(store, .s3))
        for target in [oss, s3] { #expect(try get(store, target).status == 200) }
        #expect(try get(store, oss, ["x-oss-meta-a: b"]).error == "403 SignatureDoesNotMatch")
        #expect(try get(store, oss, ["Content-MD5: abc"]).error == "403 SignatureDoesNotMatch")
        #expect(try get(store, s3, ["x-amz-meta-a: b"]).error == "403 AccessDenied")
        #expect(try get(store, s3, ["Authorization: AWS4-HMAC-SHA256 a"]).error == "400 InvalidArgument")
        #expect(try get(store, s3, host: "other").error == "403 SignatureDoesNotMatch")
        for target in [oss, s3] {
            #expect(try get(store, target, method: "HEAD").status == 403)
            #expect(try get(store, target, method: "DELETE").error == "403 SignatureDoesNotMatch")
            #expect(try get(store, target + "0").error == "403 SignatureDoesNotMatch")
            #expect(try get(store, target).status == 200)
        }
    }

    private func head(_ number: Int, method: String = "GET", _ fields: HTTPFields = [:]) -> HTTPRequestHead {
        HTTPRequestHead(
            method: method, target: "/bucket/\(number)", fields: fields, framing: .none,
            origin: HTTPRequestOrigin(peer: ""))
    }

    private func remember(_ requests: ProvenRequests, _ head: HTTPRequestHead, expiresAt: UnixTime?) throws {
        let authentication = Authentication(
            scheme: OSSSignatureV1(date: ""), accessKeyID: "", securityToken: nil, signature: nil,
            expiresAt: expiresAt, signedAt: nil)
        let claims = CredentialClaims(
            uploadID: "u", bucket: "bucket", key: "k", operations: .read, expiresAt: UnixTime(seconds: 0),
            holder: .init(.certificate, of: 1))
        let target = try RequestTarget(head.target, host: "", domains: [])
        let get = SignedRequest(method: "GET", target: target, fields: [:])
        requests.remember(
            head, authentication, OSSDialect(), target, try OSSDialect().operation(of: get), claims)
    }

    @Test func keepsTheLatestAndThoseThatAreUsed() throws {
        let requests = ProvenRequests(capacity: 20)
        for number in 0..<100 {
            try remember(requests, head(number), expiresAt: UnixTime(seconds: 1))
            #expect(requests.find(head(number))?.target.key == String(number))
            #expect(requests.find(head(0)) != nil)
        }
        let kept = (0..<100).filter { requests.find(head($0)) != nil }
        #expect((10...20).contains(kept.count))
        #expect(kept.contains(99))
    }

    @Test func keepsNothingElse() throws {
        let requests = ProvenRequests()
        // Not presigned; another method; a field that is always signed; a target of any length.
        try remember(requests, head(1), expiresAt: nil)
        #expect(requests.find(head(1)) == nil)
        let long = HTTPRequestHead(
            method: "GET",
            target: "/bucket/" + String(repeating: "k/", count: 300) + "?a=" + String(repeating: "b", count: 4000),
            fields: [:], framing: .none, origin: HTTPRequestOrigin(peer: ""))
        for head in [head(1, method: "PUT"), head(1, ["Content-MD5": "a"]), head(1, ["Authorization": "a"]), long] {
            try remember(requests, head, expiresAt: UnixTime(seconds: 1))
            #expect(requests.find(head) == nil)
        }
    }
}
