import Basics
import Crypto
import Foundation
import HTTPTestClient
import HTTPTypes
import StoreServer
import TestSupport
import Testing

@testable import ObjectStore
@testable import StoreProtocol

/// The S3 dialect through live HTTP.
@Suite(.timeLimited) struct S3Tests {
    private func client(_ store: TestStore, lifetime: Int64 = 3600) -> StoreClient {
        var client = store.client(lifetime: lifetime)
        client.dialect = .s3
        client.region = "us-east-1"
        return client
    }

    private func checksum(_ algorithm: ChecksumAlgorithm, _ body: [UInt8]) -> String {
        var running = RunningChecksum(algorithm)
        body.withUnsafeBytes { running.update($0) }
        return running.finalize().value
    }

    /// Puts an object in chunks, with a checksum in the trailer.
    private func putChunks(
        _ client: StoreClient, _ body: [UInt8], trailer: String, announced: String? = "x-amz-checksum-crc32",
        length: Int? = nil
    ) throws -> RawConnection.Response {
        var chunks: [UInt8] = []
        for start in stride(from: 0, to: body.count, by: 1000) {
            let piece = body[start..<min(start + 1000, body.count)]
            chunks += Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Array("\r\n".utf8)
        }
        chunks += Array("0\r\n\(trailer)\r\n".utf8)
        var fields = [
            "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "content-encoding": "aws-chunked",
            "x-amz-decoded-content-length": String(length ?? body.count),
        ]
        fields["x-amz-trailer"] = announced
        return try client.put(chunks, fields: fields)
    }

    @Test func objectPutIsReadBack() throws {
        let store = try TestStore(inMemory: true)
        let client = client(store)
        let body = content(10_000)
        let value = checksum(.crc64nvme, body)
        let put = try client.put(body, fields: ["x-amz-checksum-crc64nvme": value])
        #expect(put.fields["etag"] == ETag.whole(md5: Digest.md5(body), .s3))
        #expect(put.fields["x-amz-checksum-crc64nvme"] == value)
        #expect(put.fields["x-amz-request-id"] != nil && put.fields["x-oss-request-id"] == nil)
        #expect(put.fields["x-oss-hash-crc64ecma"] == nil)
        #expect(try client.get() == body)
        #expect(try client.send("GET").fields["x-amz-checksum-crc64nvme"] == nil)
        let fields = ["x-amz-checksum-mode": "ENABLED"]
        #expect(try client.send("HEAD", fields: fields).fields["x-amz-checksum-crc64nvme"] == value)
        let range = try client.send("GET", fields: fields.merging(["range": "bytes=0-9"]) { $1 })
        #expect(range.status == 206 && range.fields["x-amz-checksum-crc64nvme"] == nil)
        // The other dialect reads the same object.
        let oss = try store.client().send("HEAD")
        #expect(oss.fields["etag"] == put.fields["etag"])
        #expect(oss.fields["x-oss-hash-crc64ecma"] != nil)
    }

    @Test func verifiesTheSignedHash() throws {
        let store = try TestStore(inMemory: true)
        let client = client(store)
        let body = content(5000)
        let hash = Hex.lower(Digest.sha256(body))
        #expect(try client.put(body, fields: ["x-amz-content-sha256": hash]).status == 200)
        let other = ["x-amz-content-sha256": Hex.lower(Digest.sha256([]))]
        #expect(try client.put(body, fields: other).error == "400 XAmzContentSHA256Mismatch")
        let both = ["x-amz-content-sha256": hash, "x-amz-checksum-sha256": Base64.encode(Digest.sha256(body))]
        #expect(try client.put(body, fields: both).status == 200)
        #expect(try client.put(body + [0], fields: both).error == "400 XAmzContentSHA256Mismatch")
        #expect(try client.get() == body)
        let id = try client.initiate()
        #expect(try client.part(1, of: id, body, fields: other).error == "400 XAmzContentSHA256Mismatch")
        let document = Array("<CompleteMultipartUpload></CompleteMultipartUpload>".utf8)
        let complete = try client.send("POST", query: "uploadId=\(id)", body: document, fields: other)
        #expect(complete.error == "400 XAmzContentSHA256Mismatch")
        #expect(try client.send("GET", query: "uploadId=\(id)").elements("PartNumber").isEmpty)
    }

    @Test(arguments: ["crc32", "crc32c", "crc64nvme", "sha1", "sha256"])
    func wrongChecksumIsRefused(name: String) throws {
        let store = try TestStore(inMemory: true)
        let client = client(store)
        let algorithm = try #require(ChecksumAlgorithm(rawValue: name.uppercased()))
        let body = content(3000)
        let field = "x-amz-checksum-\(name)"
        #expect(try client.put(body, fields: [field: checksum(algorithm, content(1))]).error == "400 BadDigest")
        #expect(try client.put(body, fields: [field: "AAA="]).error == "400 InvalidRequest")
        let trailer = "\(field):\(checksum(algorithm, body))\r\n"
        let wrong = "\(field):\(checksum(algorithm, []))\r\n"
        #expect(try putChunks(client, body, trailer: wrong, announced: field).error == "400 BadDigest")
        #expect(try store.files().isEmpty)
        #expect(try putChunks(client, body, trailer: trailer, announced: field).status == 200)
        #expect(try client.get() == body)
    }

    @Test func refusesChunksThatAreNotWhatIsDeclared() throws {
        let store = try TestStore(inMemory: true)
        let client = client(store)
        let body = content(2500)
        let trailer = "x-amz-checksum-crc32:\(checksum(.crc32, body))\r\n"
        #expect(try putChunks(client, body, trailer: trailer, length: 2499).error == "400 IncompleteBody")
        #expect(try putChunks(client, body, trailer: trailer, length: 2501).error == "400 IncompleteBody")
        #expect(try putChunks(client, body, trailer: "").error == "400 MalformedTrailerError")
        #expect(try putChunks(client, body, trailer: trailer, announced: nil).error == "400 MalformedTrailerError")
        #expect(try putChunks(client, body, trailer: "", announced: "x-amz-meta-a").error == "400 InvalidRequest")
        let mode = ["x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER"]
        #expect(try client.put(body, fields: mode).error == "411 MissingContentLength")
        let tooLong = mode.merging(["x-amz-decoded-content-length": String(TestStore.partSize + 1)]) { $1 }
        let id = try client.initiate()
        #expect(try client.part(1, of: id, body, fields: tooLong).error == "400 EntityTooLarge")
        #expect(try client.send("DELETE", query: "uploadId=\(id)").status == 204)
        #expect(try store.files().isEmpty)
        #expect(try putChunks(client, body, trailer: "", announced: nil).status == 200)
    }

    /// Sends `body` in chunks; `signed` contains the signed content of each chunk and of the empty last one.
    private func putSignedChunks(
        _ client: StoreClient, _ body: [[UInt8]], signed: [[UInt8]]
    ) throws -> RawConnection.Response {
        let mode = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
        let length = body.map(\.count).reduce(0, +)
        let framing = (body + [[]]).map { String($0.count, radix: 16).count + 83 + $0.count + 2 }.reduce(0, +)
        let head = try client.head(
            "PUT", length: framing,
            fields: ["x-amz-content-sha256": mode, "x-amz-decoded-content-length": String(length)])
        let date = Timestamps.basic(client.clock.now())
        let scope = SignatureV4.Scope(day: String(date.prefix(8)), region: client.region)
        let key = SignatureV4.s3.signingKey(scope, client.credentials.secret)
        var previous = try #require(head.firstRange(of: "Signature=").map { head[$0.upperBound...].prefix(64) })
        let connection = try RawConnection(port: client.port)
        try connection.send(head)
        for (chunk, signed) in zip(body + [[]], signed) {
            let hashes = [[], signed].map { Hex.lower(Digest.sha256($0)) }
            let text = ["AWS4-HMAC-SHA256-PAYLOAD", date, SignatureV4.s3.text(of: scope), String(previous)] + hashes
            previous = Hex.lower(HMAC.sha256(key: key, Array(text.joined(separator: "\n").utf8)))[...]
            try connection.send("\(String(chunk.count, radix: 16));chunk-signature=\(previous)\r\n")
            try connection.send(chunk + Array("\r\n".utf8))
        }
        return try connection.response()
    }

    @Test func verifiesTheSignaturesOfChunks() throws {
        let store = try TestStore(inMemory: true)
        let client = client(store)
        let body = [content(9000), content(100, seed: 2)]
        #expect(try putSignedChunks(client, body, signed: body + [[]]).status == 200)
        #expect(try client.get() == body[0] + body[1])
        let other = [content(9000, seed: 3), body[1], []]
        #expect(try putSignedChunks(client, body, signed: other).error == "403 SignatureDoesNotMatch")
        #expect(try store.files().count == 1)
    }

    @Test(arguments: [
        ("STREAMING-AWS4-HMAC-SHA256-EVENTS", "501 NotImplemented"),
        ("STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD", "501 NotImplemented"), ("", "400 InvalidArgument"),
        ("unsigned-payload", "400 InvalidArgument"), ("00", "400 InvalidArgument"),
    ])
    func storesNothingOfAModeThatItDoesNotKnow(mode: String, error: String) throws {
        let store = try TestStore(inMemory: true)
        let response = try client(store).put(content(100), fields: ["x-amz-content-sha256": mode])
        #expect(response.error == error)
        for chunked in [["content-encoding": "gzip,aws-chunked"], ["x-amz-decoded-content-length": "10"]] {
            #expect(try client(store).put(content(100), fields: chunked).error == "400 InvalidRequest")
        }
        #expect(try store.files().isEmpty)
    }

    @Test func keepsTheChecksumsOfParts() throws {
        let store = try TestStore(inMemory: true)
        let client = client(store)
        let fields = ["x-amz-checksum-algorithm": "CRC32C", "x-amz-checksum-type": "FULL_OBJECT"]
        let begun = try client.send("POST", query: "uploads", fields: fields)
        #expect(begun.fields["x-amz-checksum-algorithm"] == "CRC32C")
        let id = try begun.element("UploadId")
        let bodies = [content(Int(TestStore.partSize)), content(10, seed: 2)]
        // Also if the client sends none.
        let etags = try bodies.enumerated().map { try client.part($0 + 1, of: id, $1).fields["etag"] ?? "" }
        let other = try client.part(1, of: id, bodies[0], fields: ["x-amz-checksum-crc32": checksum(.crc32, bodies[0])])
        #expect(other.error == "400 InvalidRequest")
        let listed = try client.send("GET", query: "uploadId=\(id)")
        #expect(listed.elements("ChecksumCRC32C") == bodies.map { checksum(.crc32c, $0) })
        let done = try client.complete(id, [(1, etags[0]), (2, etags[1])])
        #expect(try done.element("ChecksumCRC32C") == checksum(.crc32c, bodies[0] + bodies[1]))
        #expect(try done.element("ChecksumType") == "FULL_OBJECT")
        #expect(done.text.contains("xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\""))
        #expect(
            try done.element("ETag")
                == ETag.multipart(partMD5s: bodies.map(Digest.md5), .s3).replacing("\"", with: "&quot;"))
        #expect(try client.complete(id, [(1, etags[0]), (2, etags[1])]).body == done.body)
    }

    @Test func saysWhyItRefuses() throws {
        let store = try TestStore(inMemory: true) { $0.maximumClockSkew = .seconds(900) }
        let mine = client(store)
        var tampered = mine
        tampered.credentials = TemporaryCredentials(
            accessKeyID: mine.credentials.accessKeyID, secret: mine.credentials.secret,
            securityToken: "B" + mine.credentials.securityToken.dropFirst(), expiresAt: mine.credentials.expiresAt)
        #expect(try tampered.send("GET").error == "400 InvalidToken")
        var other = mine
        other.credentials = TemporaryCredentials(
            accessKeyID: mine.credentials.accessKeyID, secret: Secret("another"),
            securityToken: mine.credentials.securityToken, expiresAt: mine.credentials.expiresAt)
        #expect(try other.send("GET").error == "403 SignatureDoesNotMatch")
        #expect(try mine.send("GET", path: "/bucket/uploads/other").error == "403 AccessDenied")
        #expect(try mine.send("GET", query: "list-type=2", path: "/bucket").error == "403 AccessDenied")
        #expect(try mine.send("GET", query: "Signature=x").error == "400 InvalidArgument")
        #expect(try mine.send("GET", query: "tagging").error == "501 NotImplemented")
        #expect(try mine.put([1], fields: ["If-None-Match": "\"0\""]).error == "501 NotImplemented")
        #expect(try mine.send("GET").error == "404 NoSuchKey")
        #expect(try mine.send("HEAD").fields["x-oss-err"] == nil)
        let early = try mine.head("GET", length: nil)
        store.clock.advance(seconds: 901)
        let connection = try RawConnection(port: mine.port)
        try connection.send(early)
        #expect(try connection.response().error == "403 RequestTimeTooSkewed")
        store.clock.advance(seconds: 3600)
        #expect(try mine.send("GET").error == "400 ExpiredToken")
    }

    @Test func verifiesTheSizeOfTheWhole() throws {
        let store = try TestStore(inMemory: true)
        let client = client(store)
        let id = try client.initiate()
        let etag = try client.part(1, of: id, content(10)).fields["etag"] ?? ""
        let document = Array(
            "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>\(etag)</ETag></Part></CompleteMultipartUpload>"
                .utf8)
        func complete(_ size: String) throws -> String {
            let fields = ["x-amz-mp-object-size": size]
            return try client.send("POST", query: "uploadId=\(id)", body: document, fields: fields).error
        }
        #expect(try complete("11") == "400 InvalidRequest")
        #expect(try complete("ten") == "400 InvalidRequest")
        #expect(try complete("10") == "200 ")
    }

    @Test func takesTheBucketFromAConfiguredHost() throws {
        let store = try TestStore(inMemory: true) { $0.bucketDomains = ["oss-lab.example.com"] }
        let client = client(store)
        _ = try client.put(content(10))
        for (name, status) in [("bucket", 200), ("bucket-2", 403)] {
            let host = "\(name).oss-lab.example.com:8080"
            let connection = try RawConnection(port: client.port)
            try connection.send(client.head("GET", length: nil, path: "/\(client.claims.key)", host: host))
            #expect(try connection.response().status == status)
        }
    }

    /// A proxy in front replaces the host; the client signed the endpoint's.
    @Test func takesTheHostOfTheEndpoint() throws {
        let store = try TestStore(inMemory: true) { $0.publicAuthority = "store.example.com" }
        let client = client(store)
        let lines = try client.head("PUT", length: 0, host: "store.example.com").components(separatedBy: "\r\n")
        for (host, status) in [("10.0.0.1:50080", 200), ("store.example.com", 200)] {
            let connection = try RawConnection(port: client.port)
            let arrived = lines.map { $0.hasPrefix("host: ") ? "Host: \(host)" : $0 }
            try connection.send(arrived.joined(separator: "\r\n"))
            #expect(try connection.response().status == status)
        }
    }

    @Test func endsAPresignedURL() throws {
        let store = try TestStore(inMemory: true)
        let client = client(store)
        _ = try client.put(content(100))
        let date = Timestamps.basic(store.clock.now())
        let scope = SignatureV4.Scope(day: String(date.prefix(8)), region: "r")
        let credential = URLEncoding.encode("\(client.credentials.accessKeyID)/\(SignatureV4.s3.text(of: scope))")
        let target =
            "\(client.path)?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=\(credential)&X-Amz-Date=\(date)"
            + "&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Security-Token=\(client.credentials.securityToken)"
        let scheme = S3Signature(
            scope: scope, date: date, signedFields: ["host"], payload: "UNSIGNED-PAYLOAD", otherHosts: [])
        let request = SignedRequest(
            method: "GET", target: try RequestTarget(target, host: "h", domains: []), fields: ["Host": "h"])
        let code = Hex.lower(scheme.signatures(of: request, secret: client.credentials.secret)[0])
        func fetch(_ target: String) throws -> RawConnection.Response {
            let connection = try RawConnection(port: client.port)
            try connection.send("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
            return try connection.response()
        }
        #expect(try fetch("\(target)&X-Amz-Signature=\(code)").body == content(100))
        #expect(try fetch("\(target)&X-Amz-Signature=\(code)&x-amz-acl=private").error == "403 SignatureDoesNotMatch")
        let longer = target.replacing("Expires=60", with: "Expires=600")
        #expect(try fetch("\(longer)&X-Amz-Signature=\(code)").error == "403 SignatureDoesNotMatch")
        store.clock.advance(seconds: 60)
        #expect(try fetch("\(target)&X-Amz-Signature=\(code)").error == "403 AccessDenied")
    }
}
