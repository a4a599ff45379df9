import Basics
import Crypto
import HTTPClient
import HTTPServer
import StoreClient
import StoreServer
import TestSupport
import Testing

@testable import ObjectStore
@testable import StoreProtocol

/// The client of S3 with this project's own store as the engine.
@Suite(.timeLimited) struct S3ClientTests {
    private let store: TestStore
    private let client: S3Client
    private let key: String

    init() throws {
        // On a busy machine a test may pause for minutes between two pieces.
        store = try TestStore(inMemory: true) {
            $0.daemon.idleTimeout = .seconds(3600)
            $0.daemon.slowGrace = .seconds(3600)
        }
        let claims = store.claims()
        key = claims.key
        let endpoint = try StoreEndpoint("http://127.0.0.1:\(store.server.port)")
        client = S3Client(
            S3Bucket(endpoint: endpoint, region: "us-east-1", name: claims.bucket),
            credentials: StaticCredentials(store.store.issuer.issue(claims).signing), over: HTTPConnection(),
            clock: store.clock)
    }

    @Test func streamedObjectIsReadBackInRanges() async throws {
        let body = content(1_000_000)
        let upload = try await client.upload(key, size: Int64(body.count))
        for start in stride(from: 0, to: body.count, by: 70_000) {
            #expect(try await upload.write(Array(body[start..<min(start + 70_000, body.count)])))
        }
        #expect(ETag.matches(try await upload.finish(), Hex.lower(Digest.md5(body))))
        #expect(try await client.head(key)?.size == Int64(body.count))
        #expect(try await client.download(key).rest().body == body)
        #expect(try await client.download(key, 10..<500_000).rest().body == Array(body[10..<500_000]))
    }

    @Test func objectInMemoryIsStoredOnce() async throws {
        var properties = S3Properties()
        properties.isNew = true
        let etag = try await client.put(key, Array("abc".utf8), properties)
        #expect(ETag.matches(etag, Hex.lower(Digest.md5(Array("abc".utf8)))))
        let refusal = await #expect(throws: StoreRefusal.self) {
            try await client.put(key, Array("def".utf8), properties)
        }
        #expect(refusal?.kind == .preconditionFailed)
        #expect(refusal?.requestID.isEmpty == false)
        #expect(try await client.download(key).rest().body == Array("abc".utf8))
    }

    @Test func missingObjectAndWrongDigestHaveTheirKind() async throws {
        #expect(try await client.head(key) == nil)
        let missing = await #expect(throws: StoreRefusal.self) { try await client.download(key) }
        #expect(missing?.kind == .notFound)
        var properties = S3Properties()
        properties.md5 = Digest.md5([1])
        let wrong = await #expect(throws: StoreRefusal.self) { try await client.put(key, [2], properties) }
        #expect(wrong?.code == "BadDigest" && wrong?.kind == .other)
        #expect(try await client.head(key) == nil)
    }

    @Test func canceledUploadStoresNothing() async throws {
        let upload = try await client.upload(key, size: 100)
        _ = try await upload.write([UInt8](repeating: 1, count: 100))
        upload.cancel()
        await #expect(throws: CancellationError.self) { try await upload.finish() }
        #expect(try await client.head(key) == nil)
    }
}
