import Basics
import Crypto
import HTTPTestClient
import StoreServer
import Synchronization
import TestSupport
import Testing

@testable import ObjectStore
@testable import StoreProtocol

@Suite(.timeLimited) struct AccessTests {
    private func decide(_ store: TestStore, _ decision: AccessDecision) {
        store.policy.decision.withLock { $0 = decision }
    }

    @Test func unsignedRequestIsRefused() throws {
        let store = try TestStore(inMemory: true)
        let connection = try RawConnection(port: store.server.port)
        try connection.send("GET /bucket/k HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try connection.response().error == "403 AccessDenied")
    }

    @Test(arguments: [
        ("/bucket/a%00k", "400 InvalidObjectName"), ("/Bucket/k", "400 InvalidBucketName"),
        ("/bucket/%zz", "400 InvalidURI"), ("/", "403 AccessDenied"),
    ])
    func refusesTargetsBeforeAnythingElse(target: String, error: String) throws {
        let store = try TestStore(inMemory: true)
        let connection = try RawConnection(port: store.server.port)
        try connection.send("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try connection.response().error == error)
    }

    @Test func refusesCredentialsThatDoNotFit() throws {
        let store = try TestStore(inMemory: true)
        let right = store.client()
        let other = store.client(uploadID: "upload-2").credentials
        func with(_ accessKeyID: String, _ secret: Secret, _ token: String) -> StoreClient {
            var client = right
            client.credentials = TemporaryCredentials(
                accessKeyID: accessKeyID, secret: secret, securityToken: token, expiresAt: other.expiresAt)
            return client
        }
        let mine = right.credentials
        let cases = [
            (with(mine.accessKeyID, other.secret, mine.securityToken), "403 SignatureDoesNotMatch"),
            (with(other.accessKeyID, mine.secret, mine.securityToken), "403 InvalidAccessKeyId"),
            (with(mine.accessKeyID, mine.secret, "nonsense"), "403 InvalidSecurityToken"),
            (with(mine.accessKeyID, mine.secret, ""), "403 InvalidAccessKeyId"),
            (with(other.accessKeyID, other.secret, other.securityToken), "403 AccessDenied"),
        ]
        for (client, error) in cases {
            #expect(try client.put(content(10)).error == error)
            #expect(try client.send("POST", query: "uploads").error == error)
        }
        #expect(try right.send("GET", path: "/bucket/uploads/other").error == "403 AccessDenied")
        #expect(try right.send("GET", path: "/bucket-2/uploads/2026/11/21/upload-1").error == "403 AccessDenied")
        #expect(try store.files().isEmpty)
    }

    @Test func endsWithTheirTime() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client(lifetime: 60)
        store.clock.advance(seconds: 59)
        #expect(try client.put(content(10)).status == 200)
        store.clock.advance(seconds: 1)
        #expect(try client.put(content(10)).error == "403 SecurityTokenExpired")
        #expect(try client.send("HEAD").status == 403)
    }

    @Test func letsABodyThroughThatTakesLongerThanTheCredentialsLive() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client(lifetime: 60)
        let connection = try RawConnection(port: client.port)
        try connection.send(client.head("PUT", length: 10, fields: ["Expect": "100-continue"]))
        #expect(try connection.response().status == 100)
        store.clock.advance(seconds: 3600)
        try connection.send(content(10))
        #expect(try connection.response().status == 200)
    }

    @Test func knowsNoDateThatIsTooWrong() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client(lifetime: 100_000_000)
        let request = try client.head("PUT", length: 0)
        store.clock.advance(seconds: 90_000_000)
        let connection = try RawConnection(port: client.port)
        try connection.send(request)
        #expect(try connection.response().status == 200)
    }

    @Test func policesTheDateWhereALimitIsSet() throws {
        let store = try TestStore(inMemory: true) { $0.maximumClockSkew = .seconds(900) }
        let client = store.client()
        let request = try client.head("PUT", length: 0)
        store.clock.advance(seconds: 900)
        let good = try RawConnection(port: client.port)
        try good.send(request)
        #expect(try good.response().status == 200)
        store.clock.advance(seconds: 1)
        let late = try RawConnection(port: client.port)
        try late.send(request)
        let response = try late.response()
        #expect(response.error == "403 RequestTimeTooSkewed")
        #expect(try response.element("ServerTime") == Timestamps.xml(store.clock.now()))
        #expect(response.fields["date"] != nil)
    }

    @Test func doesWhatThePolicySays() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        decide(store, .denied)
        #expect(try client.put(content(10)).error == "403 AccessDenied")
        #expect(try client.send("GET").error == "403 AccessDenied")
        decide(store, .noSuchUpload)
        #expect(try client.part(1, of: id, content(10)).error == "404 NoSuchUpload")
        #expect(try client.send("POST", query: "uploads").error == "404 NoSuchUpload")
        #expect(try store.client(operations: .read).send("GET").error == "404 NoSuchKey")
    }

    @Test func leavesACompletedUploadToReaders() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        let part = try client.part(1, of: id, content(10))
        let first = try client.complete(id, [(1, part.fields["etag"] ?? "")])
        decide(store, .readOnly(needsActivity: false))
        for reader in [client, store.client(operations: .read)] {
            #expect(try reader.get() == content(10))
            #expect(try reader.send("GET", query: "uploadId=\(id)").elements("PartNumber") == ["1"])
            #expect(try reader.complete(id, [(1, part.fields["etag"] ?? "")]).body == first.body)
            #expect(try reader.send("DELETE", query: "uploadId=\(id)").error == "404 NoSuchUpload")
            #expect(try reader.put(content(5)).error == "403 AccessDenied")
            #expect(try reader.send("POST", query: "uploads").error == "403 AccessDenied")
            #expect(try reader.part(1, of: id, content(5)).error == "403 AccessDenied")
        }
        #expect(try client.get() == content(10))
    }

    @Test func keepsToTheOperationsOfTheClaims() throws {
        let store = try TestStore(inMemory: true)
        let id = try store.client().initiate()
        let reader = store.client(operations: .read)
        #expect(try reader.put(content(5)).error == "403 AccessDenied")
        #expect(try reader.part(1, of: id, content(5)).error == "403 AccessDenied")
        #expect(try reader.completeAll(id).error == "403 AccessDenied")
        #expect(try reader.send("DELETE", query: "uploadId=\(id)").error == "403 AccessDenied")
        let writer = store.client(operations: .write)
        _ = try writer.put(content(5))
        #expect(try writer.send("GET").error == "403 AccessDenied")
        #expect(try reader.get() == content(5))
    }

    @Test func asksAgainBeforeItCommits() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let connection = try RawConnection(port: client.port)
        try connection.send(client.head("PUT", length: 10, fields: ["Expect": "100-continue"]))
        #expect(try connection.response().status == 100)
        decide(store, .noSuchUpload)
        try connection.send(content(10))
        #expect(try connection.response().error == "404 NoSuchUpload")
        #expect(try store.snapshot().object == nil)
        #expect(try store.files().isEmpty)
    }

    @Test func tellsOfTheFirstTouch() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        _ = try client.put(content(1))
        #expect(store.policy.touched.withLock { $0 }.isEmpty)
        decide(store, .allowed(partSize: TestStore.partSize, needsActivity: true))
        _ = try client.send("HEAD")
        #expect(store.policy.touched.withLock { $0 } == ["upload-1"])
    }

    @Test func presignedGetReturnsTheObject() throws {
        let store = try TestStore(inMemory: true)
        _ = try store.client().put(content(1000))
        let claims = store.claims(lifetime: 100_000)
        let endpoint = try StoreEndpoint("http://127.0.0.1:\(store.server.port)")
        let presigned = try store.store.issuer.presignedGet(
            claims, at: endpoint, .init(from: store.clock.now(), for: .seconds(900)))
        #expect(presigned.method == "GET")
        #expect(presigned.expiresAt == store.clock.now().adding(seconds: 900))
        let target = try #require(presigned.url.firstRange(of: "/bucket").map { presigned.url[$0.lowerBound...] })
        func fetch(_ method: String, _ target: some StringProtocol, _ extra: String = "") throws
            -> RawConnection.Response
        {
            let connection = try RawConnection(port: store.server.port)
            try connection.send("\(method) \(target) HTTP/1.1\r\nHost: h\r\n\(extra)\r\n")
            return try connection.response()
        }
        #expect(try fetch("GET", target).body == content(1000))
        #expect(try fetch("GET", target, "Range: bytes=5-6\r\n").body == Array(content(1000)[5...6]))
        #expect(try fetch("DELETE", target).error == "403 SignatureDoesNotMatch")
        #expect(try fetch("GET", target.replacing("/upload-1", with: "/upload-2")).error == "403 SignatureDoesNotMatch")
        #expect(
            try fetch("GET", target.replacing("expires=900", with: "expires=9000")).error == "403 SignatureDoesNotMatch"
        )
        store.clock.advance(seconds: 900)
        #expect(try fetch("GET", target).error == "403 AccessDenied")
    }

    @Test func presignsAPutOfWhateverContentType() throws {
        let store = try TestStore(inMemory: true)
        let endpoint = try StoreEndpoint("http://127.0.0.1:\(store.server.port)")
        let presigned = try store.store.issuer.presignedPut(
            store.claims(), at: endpoint, .init(from: store.clock.now(), for: .seconds(900)))
        #expect(presigned.method == "PUT")
        let target = try #require(presigned.url.firstRange(of: "/bucket").map { presigned.url[$0.lowerBound...] })
        func send(_ method: String, _ extra: String = "") throws -> RawConnection.Response {
            let connection = try RawConnection(port: store.server.port)
            try connection.send("\(method) \(target) HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\(extra)\r\nhi")
            return try connection.response()
        }
        #expect(try send("PUT").status == 200)
        #expect(try send("PUT", "Content-Type: text/plain\r\n").status == 200)
        #expect(try store.client().send("GET").body == Array("hi".utf8))
        #expect(try send("PUT", "Content-MD5: SfaKXItjqTNZ2bHEXBsQtA==\r\n").error == "403 SignatureDoesNotMatch")
        #expect(try send("GET").error == "403 SignatureDoesNotMatch")
    }

    @Test func endsAPresignedURLWithItsClaims() throws {
        let store = try TestStore(inMemory: true)
        let endpoint = try StoreEndpoint("http://127.0.0.1:1")
        let presigned = try store.store.issuer.presignedGet(
            store.claims(lifetime: 30), at: endpoint, .init(from: store.clock.now(), for: .seconds(900)))
        #expect(presigned.expiresAt == store.clock.now().adding(seconds: 30))
        #expect(presigned.url.contains("x-oss-expires=30&"))
    }

    @Test func takesTheBucketFromAConfiguredHost() throws {
        let store = try TestStore(inMemory: true) { $0.bucketDomains = ["oss-lab.example.com"] }
        let client = store.client()
        _ = try client.put(content(10))
        let lines = try client.head("GET", length: nil).split(separator: "\r\n").filter { !$0.hasPrefix("host:") }
        let connection = try RawConnection(port: client.port)
        let target = String(lines[0]).replacing("/bucket/", with: "/")
        let head = ([target] + lines.dropFirst().map(String.init) + ["Host: bucket.oss-lab.example.com"])
        try connection.send(head.joined(separator: "\r\n") + "\r\n\r\n")
        #expect(try connection.response().body == content(10))
    }
}
