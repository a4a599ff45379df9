import Basics
import Checksums
import Crypto
import Dispatch
import Foundation
import HTTPTestClient
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import ObjectStore
@testable import StoreProtocol

@Suite(.timeLimited) struct MultipartTests {
    private static let partSize = Int(TestStore.partSize)

    private func pieces(_ body: [UInt8]) -> [[UInt8]] {
        stride(from: 0, to: body.count, by: Self.partSize).map { Array(body[$0..<min($0 + Self.partSize, body.count)]) }
    }

    /// Sends every part and returns the list for Complete.
    private func upload(_ body: [UInt8], _ client: StoreClient, _ id: String) throws -> [(Int, String)] {
        try pieces(body).enumerated().map { index, piece in
            let response = try client.part(index + 1, of: id, piece)
            return (index + 1, try #require(response.fields["etag"]))
        }
    }

    @Test func makesAnObjectOfParts() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let body = content(2 * Self.partSize + 777)
        let id = try client.initiate()
        var etags: [Int: String] = [:]
        for number in [3, 1, 2] {
            let piece = pieces(body)[number - 1]
            let response = try client.part(number, of: id, piece, fields: ["Content-MD5": StoreClient.md5(piece)])
            #expect(response.status == 200)
            #expect(response.fields["etag"] == ETag.whole(md5: Digest.md5(piece), .oss))
            etags[number] = response.fields["etag"]
        }
        #expect(try store.snapshot().multiparts == [.init(id: id, partCount: 3)])
        let response = try client.complete(id, [1, 2, 3].map { ($0, etags[$0] ?? "") })
        #expect(response.status == 200)
        let etag = ETag.multipart(partMD5s: pieces(body).map(Digest.md5), .oss)
        #expect(response.fields["etag"] == etag)
        #expect(try response.element("ETag") == etag.replacing("\"", with: "&quot;"))
        var crc = CRC64()
        body.withUnsafeBytes { crc.update($0) }
        #expect(response.fields["x-oss-hash-crc64ecma"] == String(crc.value))
        #expect(try client.get() == body)
        let snapshot = try store.snapshot()
        #expect(snapshot.multiparts.isEmpty)
        #expect(snapshot.object?.etag == etag)
        #expect(snapshot.object?.partCount == 3)
        #expect(try store.files() == [snapshot.object?.fileID])
        var crc32 = CRC32()
        body.withUnsafeBytes { crc32.update($0) }
        #expect(snapshot.object?.crc32 == crc32.value)
    }

    @Test func listsPartsInPages() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        for number in [1, 4, 9, 10_000] { _ = try client.part(number, of: id, content(number % 7 + 1)) }
        let first = try client.send("GET", query: "uploadId=\(id)&max-parts=2&part-number-marker=&encoding-type=url")
        #expect(first.elements("PartNumber") == ["1", "4"])
        #expect(try first.element("NextPartNumberMarker") == "4")
        #expect(try first.element("IsTruncated") == "true")
        #expect(try first.element("Key") == URLEncoding.encode(client.claims.key))
        let second = try client.send("GET", query: "uploadId=\(id)&max-parts=2&part-number-marker=4")
        #expect(second.elements("PartNumber") == ["9", "10000"])
        #expect(try second.element("IsTruncated") == "false")
        #expect(try second.element("NextPartNumberMarker") == "10000")
        #expect(second.elements("Size") == ["3", "5"])
        #expect(try client.send("GET", query: "uploadId=\(id)&max-parts=x").error == "400 InvalidArgument")
        #expect(try client.send("GET", query: "uploadId=\(id)&max-parts=-1").error == "400 InvalidArgument")
    }

    @Test func answersACompleteAgain() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        let parts = try upload(content(Self.partSize + 5), client, id)
        let first = try client.complete(id, parts)
        let second = try client.complete(id, parts)
        #expect(second.body == first.body)
        #expect(try client.send("DELETE", query: "uploadId=\(id)").error == "404 NoSuchUpload")
        #expect(try client.send("GET", query: "uploadId=\(id)").elements("PartNumber") == ["1", "2"])
        #expect(try client.part(1, of: id, content(5)).error == "404 NoSuchUpload")
        #expect(try client.get() == content(Self.partSize + 5))
    }

    @Test func completesOnceForTwoAtATime() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        let parts = try upload(content(3 * Self.partSize), client, id)
        let responses = Lock<[RawConnection.Response?]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            let response = try? client.complete(id, parts)
            responses.withLock { $0.append(response) }
        }
        let bodies = responses.withLock { $0.map { $0?.body } }
        #expect(bodies.count == 4)
        #expect(bodies.allSatisfy { $0 != nil && $0 == bodies[0] })
        #expect(try store.files().count == 1)
    }

    /// Changes a data file in place, without the store.
    private func overwrite(_ path: String, with bytes: [UInt8]) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.write(contentsOf: bytes)
        try file.close()
    }

    @Test(.onDirectory) func answersTheSamePartFromItsRow() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        let piece = content(500)
        let md5 = ["Content-MD5": StoreClient.md5(piece)]
        let first = try client.part(1, of: id, piece, fields: md5)
        let path = try #require(try store.files().first.map(store.path))
        // If the part were written again, these bytes would be replaced.
        let other = content(500, seed: 3)
        try overwrite(path, with: other)
        #expect(try client.part(1, of: id, piece, fields: md5).fields["etag"] == first.fields["etag"])
        #expect(try client.part(1, of: id, piece).fields["etag"] == first.fields["etag"])
        #expect(try Data(contentsOf: URL(filePath: path)).prefix(500) == Data(other))
        #expect(try store.files().count == 1)
        // Announced as the same content but different: it is refused, and the acknowledged part stays.
        #expect(try client.part(1, of: id, content(500, seed: 2), fields: md5).error == "400 InvalidDigest")
        #expect(try Data(contentsOf: URL(filePath: path)).prefix(500) == Data(other))
        try overwrite(path, with: piece)
        _ = try client.completeAll(id)
        #expect(try client.get() == piece)
    }

    @Test func replacesAPartByAnother() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        let body = content(2 * Self.partSize + 9, seed: 3)
        _ = try upload(content(2 * Self.partSize + 100, seed: 4), client, id)
        _ = try client.part(2, of: id, content(7))
        let parts = try upload(body, client, id)
        #expect(try store.files().count == (store.keepsReplacedParts ? 4 : 1))
        #expect(try client.complete(id, parts).status == 200)
        #expect(try client.get() == body)
        #expect(try store.files().count == 1)
    }

    @Test func takesJustTheListedParts() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        let parts = try upload(content(4 * Self.partSize), client, id)
        #expect(try client.complete(id, Array(parts.prefix(2))).status == 200)
        #expect(try client.get() == Array(content(4 * Self.partSize).prefix(2 * Self.partSize)))
        #expect(try client.send("GET", query: "uploadId=\(id)").elements("PartNumber") == ["1", "2"])
    }

    @Test func refusesWhatMakesNoObject() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        #expect(try client.completeAll(id).error == "400 InvalidPart")
        let parts = try upload(content(3 * Self.partSize), client, id)
        let wrong = "\"\(String(repeating: "0", count: 32))\""
        #expect(try client.complete(id, [parts[0], parts[2]]).error == "400 InvalidPart")
        #expect(try client.complete(id, [parts[1]]).error == "400 InvalidPart")
        #expect(try client.complete(id, [(1, wrong)]).error == "400 InvalidPart")
        #expect(try client.complete(id, parts + [(4, wrong)]).error == "400 InvalidPart")
        #expect(try client.complete(id, [parts[1], parts[0]]).error == "400 InvalidPartOrder")
        #expect(try client.complete(id, [parts[0], parts[0]]).error == "400 InvalidPartOrder")
        #expect(try client.complete(id, []).error == "400 MalformedXML")
        let short = try client.part(1, of: id, content(10))
        #expect(try client.complete(id, [(1, short.fields["etag"] ?? "")] + parts[1...]).error == "400 EntityTooSmall")
        #expect(
            try store.snapshot() == StoreSnapshot(multiparts: [.init(id: id, partCount: 3)], object: nil, isLost: false)
        )
        _ = try client.part(1, of: id, pieces(content(3 * Self.partSize))[0])
        #expect(try client.complete(id, parts).status == 200)
    }

    @Test func refusesAPartThatIsTooLong() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        // Refused at its header, without waiting for the body.
        let connection = try RawConnection(port: client.port)
        try connection.send(
            client.head(
                "PUT", query: "partNumber=1&uploadId=\(id)", length: Self.partSize + 1,
                fields: ["Expect": "100-continue"]))
        #expect(try connection.response().error == "400 EntityTooLarge")
        // Chunked: refused while it arrives.
        let chunked = try RawConnection(port: client.port)
        try chunked.send(
            client.head(
                "PUT", query: "partNumber=1&uploadId=\(id)", length: nil, fields: ["Transfer-Encoding": "chunked"]))
        let piece = content(Self.partSize + 1)
        try chunked.send("\(String(piece.count, radix: 16))\r\n")
        try chunked.send(piece)
        try chunked.send("\r\n0\r\n\r\n")
        #expect(try chunked.response().error == "400 EntityTooLarge")
        #expect(try store.snapshot().multiparts == [.init(id: id, partCount: 0)])
    }

    @Test(arguments: ["0", "10001", "-1", "x", "", "99999999999999999999"])
    func refusesPartNumbers(number: String) throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        let response = try client.send("PUT", query: "partNumber=\(number)&uploadId=\(id)", body: [1])
        #expect(response.error == "400 InvalidArgument")
    }

    @Test func keepsMultipartUploadsOfOneKeyApart() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let ids = [try client.initiate(), try client.initiate()]
        let bodies = [content(2 * Self.partSize, seed: 5), content(2 * Self.partSize + 3, seed: 6)]
        for number in 1...2 {
            for (id, body) in zip(ids, bodies) {
                #expect(try client.part(number, of: id, pieces(body)[number - 1]).status == 200)
            }
        }
        _ = try client.part(3, of: ids[1], pieces(bodies[1])[2])
        let counts = try store.snapshot().multiparts.map { [$0.id: $0.partCount] }
        #expect(Set(counts) == [[ids[0]: 2], [ids[1]: 3]])
        for (id, body) in zip(ids, bodies) {
            #expect(try client.completeAll(id).status == 200)
            #expect(try client.get() == body)
        }
        #expect(try client.completeAll(ids[0]).error == "404 NoSuchUpload")
        #expect(try store.files().count == 1)
    }

    @Test func abortedUploadRefusesPartsAndLeavesNoFile() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        _ = try upload(content(Self.partSize + 1), client, id)
        _ = try client.part(2, of: id, content(9))
        #expect(try client.send("DELETE", query: "uploadId=\(id)").status == 204)
        #expect(try store.files().isEmpty)
        #expect(try client.send("DELETE", query: "uploadId=\(id)").error == "404 NoSuchUpload")
        #expect(try client.send("GET", query: "uploadId=\(id)").error == "404 NoSuchUpload")
        #expect(try client.part(1, of: id, [1]).error == "404 NoSuchUpload")
        #expect(try client.completeAll(id).error == "404 NoSuchUpload")
    }

    @Test func keepsOtherUploadsOut() throws {
        let store = try TestStore(inMemory: true)
        let id = try store.client().initiate()
        let other = store.client(uploadID: "upload-2")
        #expect(try other.part(1, of: id, [1]).error == "404 NoSuchUpload")
        #expect(try other.completeAll(id).error == "404 NoSuchUpload")
        #expect(try other.send("GET", query: "uploadId=\(id)").error == "404 NoSuchUpload")
        #expect(try other.send("DELETE", query: "uploadId=\(id)").error == "404 NoSuchUpload")
    }
}
