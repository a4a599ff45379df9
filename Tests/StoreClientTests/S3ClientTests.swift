import Basics
import Crypto
import Foundation
import HTTPClient
import HTTPTestClient
import HTTPTypes
import StoreProtocol
import Synchronization
import TestSupport
import Testing

@testable import StoreClient

/// A store that answers as the test says, and keeps the requests.
private final class ScriptedStore: Sendable {
    struct Request: Sendable {
        let head: String
        let body: [UInt8]

        var line: String { String(head.prefix { $0 != "\r\n" }) }

        func field(_ name: String) -> String? {
            head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name + ": ") }
                .map { String($0.dropFirst(name.count + 2)) }
        }
    }

    private let log: Arrived
    let server: RawServer

    private final class Arrived: Sendable {
        let requests = Lock<[Request]>([])
    }

    init(_ respond: @escaping @Sendable (Request) -> (status: Int, fields: String, body: String)) throws {
        let log = Arrived()
        self.log = log
        server = try RawServer { peer in
            while let head = try? peer.head() {
                var request = Request(head: head, body: [])
                request = Request(head: head, body: peer.body(request.field("content-length").flatMap { Int($0) } ?? 0))
                log.requests.withLock { $0.append(request) }
                let (status, fields, body) = respond(request)
                try peer.send(
                    "HTTP/1.1 \(status) X\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n"
                        + (head.hasPrefix("HEAD") ? "" : body))
            }
        }
    }

    deinit {
        server.stop()
    }

    var requests: [Request] { log.requests.withLock { $0 } }

    func client(
        _ source: any CredentialSource = StaticCredentials(.named("a")), style: S3Bucket.Style = .path
    ) throws -> S3Client {
        var options = HTTPConnection.Options()
        if style == .virtualHost { options.connectTo = PeerAddress(host: "127.0.0.1", port: Int(server.port)) }
        let endpoint = try StoreEndpoint(style == .path ? server.url : "http://store.example.com:\(server.port)")
        return S3Client(
            S3Bucket(endpoint: endpoint, region: "us-east-1", name: "bucket", style: style), credentials: source,
            over: HTTPConnection(options), clock: SystemClock())
    }
}

extension SigningCredentials {
    fileprivate static func named(_ id: String) -> SigningCredentials {
        SigningCredentials(accessKeyID: id, secret: Secret("secret of \(id)"))
    }
}

/// Credentials with the ids `1`, `2`, … for each load.
private final class NumberedCredentials: CredentialLoader {
    let count = Lock(0)
    let hasMore: Bool

    init(hasMore: Bool = true) {
        self.hasMore = hasMore
    }

    func load() async throws -> LoadedCredentials {
        await Task.yield()
        return LoadedCredentials(
            .named(
                String(
                    count.withLock { count in
                        if hasMore || count == 0 { count += 1 }
                        return count
                    })))
    }

    func hasChanged() -> Bool { false }
}

@Suite(.timeLimited) struct S3ClientTests {
    private static let etag = "ETag: \"e\"\r\n"

    @Test func putSendsItsConditionsAndProperties() async throws {
        let store = try ScriptedStore { _ in (200, Self.etag, "") }
        var properties = S3Properties()
        properties.isNew = true
        properties.metadata = [("Store-Id", "7")]
        properties.storageClass = "COLD"
        properties.encryption = .keyManagement(keyID: "k")
        #expect(try await store.client().put("a/b c", Array("xyz".utf8), properties) == "\"e\"")
        let request = try #require(store.requests.first)
        #expect(request.head.hasPrefix("PUT /bucket/a/b%20c HTTP/1.1\r\n"))
        #expect(request.body == Array("xyz".utf8))
        #expect(request.field("if-none-match") == "*")
        #expect(request.field("content-md5") == Base64.encode(Digest.md5(Array("xyz".utf8))))
        #expect(request.field("x-amz-meta-store-id") == "7")
        #expect(request.field("x-amz-storage-class") == "COLD")
        #expect(request.field("x-amz-server-side-encryption") == "aws:kms")
        #expect(request.field("x-amz-server-side-encryption-aws-kms-key-id") == "k")
        #expect(request.field("x-amz-content-sha256") == "UNSIGNED-PAYLOAD")
        let signed = try #require(request.field("authorization"))
        #expect(signed.contains("if-none-match;x-amz-content-sha256") && signed.contains("x-amz-meta-store-id"))
    }

    @Test func bucketIsInTheHostOfVirtualHostStyle() async throws {
        let store = try ScriptedStore { _ in (200, Self.etag, "") }
        let client = try store.client(style: .virtualHost)
        _ = try await client.put("k", [1])
        _ = try? await client.list("p")
        #expect(
            store.requests.map(\.line) == [
                "PUT /k HTTP/1.1",
                "GET /?list-type=2&prefix=p&max-keys=1000&encoding-type=url HTTP/1.1",
            ])
        #expect(store.requests.allSatisfy { $0.field("host") == "bucket.store.example.com:\(store.server.port)" })
    }

    @Test func uploadIsStreamed() async throws {
        let store = try ScriptedStore { _ in (200, Self.etag, "") }
        let upload = try await store.client().upload("k", size: 200_000)
        for _ in 0..<2 { #expect(try await upload.write([UInt8](repeating: 7, count: 100_000))) }
        #expect(try await upload.finish() == "\"e\"")
        #expect(store.requests.map(\.body) == [[UInt8](repeating: 7, count: 200_000)])
    }

    @Test(arguments: [
        (404, "NoSuchKey", StoreRefusal.Kind.notFound), (404, "", .notFound),
        (412, "PreconditionFailed", .preconditionFailed),
        (403, "AccessDenied", .accessDenied), (400, "ExpiredToken", .expiredCredentials),
        (403, "InvalidAccessKeyId", .expiredCredentials), (503, "SlowDown", .retriable),
        (500, "InternalError", .retriable),
        (400, "RequestTimeout", .retriable), (400, "BadDigest", .other), (501, "NotImplemented", .other),
    ])
    func errorsHaveTheirKind(status: Int, code: String, kind: StoreRefusal.Kind) async throws {
        let document =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>\(code)</Code><Message>m</Message>"
            + "<RequestId>r1</RequestId></Error>"
        let store = try ScriptedStore { _ in (status, "", document) }
        let refusal = await #expect(throws: StoreRefusal.self) { try await store.client().put("k", [1]) }
        #expect(refusal?.kind == kind)
        #expect(refusal?.status == status)
        #expect(refusal?.code == code)
        #expect(refusal?.message == "m")
        #expect(refusal?.requestID == "r1")
        #expect(store.requests.count == 1)
    }

    @Test func rangeIsReadAndAnotherAnswerRefused() async throws {
        let store = try ScriptedStore { request in
            switch request.field("range") {
            case "bytes=2-4": (206, "Content-Range: bytes 2-4/10\r\n", "abc")
            case "bytes=0-2": (206, "Content-Range: bytes 1-3/10\r\n", "abc")
            case nil: (200, "", "whole")
            default: (200, "", "abcd")
            }
        }
        let client = try store.client()
        #expect(try await client.download("k", 2..<5).rest().body == Array("abc".utf8))
        #expect(try await client.download("k").rest().body == Array("whole".utf8))
        for range in [Int64(0)..<3, 1..<5, 5..<6] {
            await #expect(throws: TransferFailure.self) { try await client.download("k", range) }
        }
    }

    @Test func headAndDeleteOfNothingSucceed() async throws {
        let store = try ScriptedStore { request in
            request.head.contains("/none")
                ? (404, "", "<Error><Code>NoSuchKey</Code></Error>")
                : (200, "\(Self.etag)X-Amz-Meta-A: b\r\n", "12345")
        }
        let client = try store.client()
        #expect(try await client.head("none") == nil)
        let found = try #require(try await client.head("k"))
        #expect(found.size == 5 && found.etag == "\"e\"" && found.metadata == ["a": "b"])
        try await client.delete("none")
        #expect(store.requests.map { $0.line.prefix { $0 != " " } } == ["HEAD", "HEAD", "DELETE"])
    }

    @Test func deletionOfManyReturnsThoseThatFailed() async throws {
        let store = try ScriptedStore { _ in
            (
                200, "",
                "<DeleteResult><Error><Key>a&amp;b</Key><Code>AccessDenied</Code><Message>no</Message></Error>"
                    + "<Error><Key>c</Key><Code>NoSuchKey</Code></Error></DeleteResult>"
            )
        }
        let failures = try await store.client().delete(["a&b", "c"])
        #expect(failures == [S3DeletionFailure(key: "a&b", code: "AccessDenied", message: "no")])
        let request = try #require(store.requests.first)
        #expect(request.line == "POST /bucket?delete HTTP/1.1")
        #expect(request.field("content-md5") == Base64.encode(Digest.md5(request.body)))
        #expect(String(decoding: request.body, as: UTF8.self).contains("<Key>a&amp;b</Key>"))
    }

    @Test func listHasPages() async throws {
        let store = try ScriptedStore { request in
            let isSecond = request.head.contains("continuation-token=t%2F1")
            let end =
                isSecond
                ? "false" : "true</IsTruncated><NextContinuationToken>t/1</NextContinuationToken><IsTruncated>true"
            return (
                200, "",
                "<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>\(end)</IsTruncated>"
                    + "<Contents><Key>a%2Bb+\(isSecond ? 2 : 1)</Key><Size>7</Size><ETag>\"e\"</ETag>"
                    + "<LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents>"
                    + "<CommonPrefixes><Prefix>x/</Prefix></CommonPrefixes></ListBucketResult>"
            )
        }
        let client = try store.client()
        let first = try await client.list("p", delimiter: "/")
        #expect(first.objects.map(\.key) == ["a+b 1"])
        #expect(first.objects.first?.modifiedAt != nil)
        #expect(first.prefixes == ["x/"])
        let second = try await client.list("p", delimiter: "/", after: first.next)
        #expect(second.objects.map(\.key) == ["a+b 2"])
        #expect(second.next == nil)
    }

    @Test func copyFailsThoughItsStatusIsSuccess() async throws {
        let store = try ScriptedStore { request in
            request.head.contains("/bad")
                ? (200, "", "  \n<Error><Code>InternalError</Code></Error>")
                : (200, "", " <CopyObjectResult><ETag>\"c\"</ETag></CopyObjectResult>")
        }
        let client = try store.client()
        #expect(try await client.copy("a b", to: "c") == "\"c\"")
        #expect(store.requests.first?.field("x-amz-copy-source") == "/bucket/a%20b")
        await #expect(throws: StoreRefusal.self) { try await client.copy("a", to: "bad") }
    }

    // MARK: Properties of the bucket

    @Test func propertiesOfTheBucketAreRead() async throws {
        let store = try ScriptedStore { request in
            switch request.line {
            case "GET /bucket?versioning HTTP/1.1":
                (200, "", "<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>")
            case "GET /bucket?lifecycle HTTP/1.1":
                (
                    200, "",
                    "<LifecycleConfiguration><Rule><ID>r</ID><Status>Disabled</Status><Filter><And><Prefix>p</Prefix>"
                        + "<Tag><Key>k</Key></Tag></And></Filter><Expiration><Days>1</Days></Expiration></Rule>"
                        + "</LifecycleConfiguration>"
                )
            default: (404, "", "<Error><Code>ObjectLockConfigurationNotFoundError</Code></Error>")
            }
        }
        let client = try store.client()
        #expect(try await client.versioning() == .suspended)
        let rule = try #require(try await client.lifecycleRules()?.first)
        #expect(rule.id == "r" && !rule.isEnabled && rule.prefix == "p" && rule.hasTags)
        #expect(rule.actions == ["Expiration"])
        #expect(try await client.objectLock() == S3ObjectLock(isEnabled: false, hasRule: false))
    }

    @Test(arguments: [
        (501, "NotImplemented"), (405, "MethodNotAllowed"), (404, ""), (403, "AccessDenied"), (404, "NoSuchBucket"),
    ])
    func unknownPropertyIsDistinguished(status: Int, code: String) async throws {
        let store = try ScriptedStore { _ in (status, "", "<Error><Code>\(code)</Code></Error>") }
        let client = try store.client()
        guard status == 403 || code == "NoSuchBucket" else {
            #expect(try await client.versioning() == nil)
            #expect(try await client.lifecycleRules() == nil)
            #expect(try await client.objectLock() == nil)
            return
        }
        await #expect(throws: StoreRefusal.self) { try await client.versioning() }
        await #expect(throws: StoreRefusal.self) { try await client.lifecycleRules() }
        await #expect(throws: StoreRefusal.self) { try await client.objectLock() }
    }

    @Test func smallObjectHasTheTimesOfTheStore() async throws {
        let store = try ScriptedStore { request in
            let fields =
                "\(Self.etag)Date: Thu, 01 Jan 2026 00:00:10 GMT\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
            return request.head.contains("/none")
                ? (404, "", "") : (200, fields, request.head.hasPrefix("GET") ? "abc" : "")
        }
        let client = try store.client()
        let start = UnixTime(seconds: 1_767_225_600)
        #expect(try await client.store("k", [1]) == S3Stored(etag: "\"e\"", answeredAt: start.adding(seconds: 10)))
        let content = try await client.contents("k", limit: 3)
        #expect(content?.bytes == Array("abc".utf8) && content?.modifiedAt == start)
        #expect(content?.answeredAt == start.adding(seconds: 10))
        #expect(try await client.contents("none", limit: 3) == nil)
        await #expect(throws: TransferFailure.self) { try await client.contents("k", limit: 2) }
        try await client.delete("k", ifMatch: "\"e\"")
        #expect(store.requests.last?.field("if-match") == "\"e\"")
    }

    // MARK: Credentials

    private static func accepting(_ id: String) throws -> ScriptedStore {
        try ScriptedStore { request in
            request.head.contains("Credential=\(id)/")
                ? (200, Self.etag, "") : (403, "", "<Error><Code>InvalidAccessKeyId</Code></Error>")
        }
    }

    @Test func refusedCredentialsAreRenewedOnceForAllRequests() async throws {
        let store = try Self.accepting("2")
        let loader = NumberedCredentials()
        let client = try store.client(RenewedCredentials(loader, clock: SystemClock()))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 { group.addTask { _ = try await client.put("k\(number)", [1]) } }
            try await group.waitForAll()
        }
        #expect(loader.count.withLock { $0 } == 2)
        #expect(store.requests.count >= 20)
    }

    @Test func sameCredentialsAreNotTriedAgain() async throws {
        let store = try Self.accepting("none")
        let client = try store.client(RenewedCredentials(NumberedCredentials(hasMore: false), clock: SystemClock()))
        await #expect(throws: StoreRefusal.self) { try await client.put("k", [1]) }
        #expect(store.requests.count == 1)
    }

    @Test func refusedUploadIsNotRepeatedButTheNextOneSucceeds() async throws {
        let store = try Self.accepting("2")
        let client = try store.client(RenewedCredentials(NumberedCredentials(), clock: SystemClock()))
        let first = try await client.upload("k", size: 1)
        _ = try await first.write([1])
        await #expect(throws: StoreRefusal.self) { try await first.finish() }
        let second = try await client.upload("k", size: 1)
        _ = try await second.write([1])
        #expect(try await second.finish() == "\"e\"")
        #expect(store.requests.count == 2)
    }

    @Test func fileIsReadAgainWhenItChanges() async throws {
        let folder = try TestFolder()
        let path = folder.path + "/credentials"
        func write(_ id: String, token: String = "") throws {
            let text =
                "[other]\naws_access_key_id = x\n[default]\n# key\naws_access_key_id = \(id)\n"
                + "aws_secret_access_key=s\n\(token)"
            try text.write(toFile: path + ".new", atomically: true, encoding: .utf8)
            #expect(rename(path + ".new", path) == 0)
        }
        let source = RenewedCredentials(FileCredentials(path), clock: SystemClock())
        await #expect(throws: FileReader.Failure.self) { try await source.current() }
        try write("one")
        #expect(try await source.current().accessKeyID == "one")
        try write("two", token: "aws_session_token = t\n")
        #expect(try await source.current().accessKeyID == "two")
        #expect(try await source.current().securityToken == "t")
        // A file that has just been replaced by a defective one.
        try "".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try await source.current().accessKeyID == "two")
    }

    @Test func environmentHasCredentials() async throws {
        let names = ["AWS_ACCESS_KEY_ID": "i", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": ""]
        let credentials = try EnvironmentCredentials { names[$0] }.load().credentials
        #expect(credentials.accessKeyID == "i" && credentials.secret.matches(Secret("s")))
        #expect(credentials.securityToken == nil)
        #expect(throws: CredentialProblem.self) { try EnvironmentCredentials { _ in nil }.load() }
    }
}
