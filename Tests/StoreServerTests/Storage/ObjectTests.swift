import Basics
import Crypto
import Database
import HTTPTestClient
import StoreServer
import StoreTesting
import TestSupport
import Testing

@testable import DirectoryEngine
@testable import ObjectStore
@testable import StoreProtocol

@Suite(.timeLimited) struct ObjectTests {
    @Test(arguments: [0, 1, 65_536, 3_000_001])
    func objectPutIsReadBack(size: Int) throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let body = content(size)
        let put = try client.put(body, fields: ["Content-Type": "text/x", "Content-MD5": StoreClient.md5(body)])
        #expect(put.status == 200)
        #expect(put.fields["etag"] == "\"\(Hex.upper(Digest.md5(body)))\"")
        let head = try client.send("HEAD")
        let get = try client.send("GET")
        #expect(get.status == 200)
        #expect(get.body == body)
        for response in [head, get] {
            #expect(response.fields["etag"] == put.fields["etag"])
            #expect(response.fields["x-oss-hash-crc64ecma"] == put.fields["x-oss-hash-crc64ecma"])
            #expect(response.fields["content-length"] == String(size))
            #expect(response.fields["content-type"] == "text/x")
            #expect(response.fields["last-modified"] == Timestamps.http(store.clock.now()))
            #expect(response.fields["x-oss-request-id"]?.count == 32)
        }
        #expect(try store.snapshot().object?.size == Int64(size))
        #expect(try store.snapshot().object?.isMultipart == false)
    }

    @Test func takesAChunkedBody() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let connection = try RawConnection(port: client.port)
        try connection.send(client.head("PUT", length: nil, fields: ["Transfer-Encoding": "chunked"]))
        try connection.send("3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n")
        #expect(try connection.response().status == 200)
        #expect(try client.get() == Array("abcdefg".utf8))
    }

    @Test(.onDirectory, arguments: ["PUT", "DELETE"])
    func readsWhatIsThereOnceTheFileItLookedForIsGone(method: String) throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        _ = try client.put(content(100, seed: 1))
        var reads = 0
        let size = Result {
            try store.withObject(client.claims) { object in
                reads += 1
                if reads == 1 {
                    if method == "PUT" {
                        _ = try client.put(content(50, seed: 2))
                    } else {
                        _ = try store.store.database.writeBlocking { connection in
                            try StoreRecords(connection).deleteObject(uploadID: client.claims.uploadID)
                        }
                    }
                    store.store.work.removals.drain()
                    try store.store.data.remove(object.fileID)
                }
                return try store.store.data.open(object.fileID, for: .reading).size()
            }
        }
        if method == "PUT" {
            #expect(try size.get() == 50)
        } else {
            #expect(throws: ObjectStoreError.noSuchObject) { try size.get() }
        }
    }

    @Test(.onDirectory) func aFileThatIsGoneFromUnderItsObjectIsMissing() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        _ = try client.put(content(100))
        try store.files().forEach { try store.store.data.remove($0) }
        #expect(throws: StorageFailure.missing) {
            try store.withObject(client.claims) { try store.store.data.open($0.fileID, for: .reading).size() }
        }
    }

    @Test func secondPutReplacesTheObject() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        _ = try client.put(content(100, seed: 1))
        _ = try client.put(content(50, seed: 2))
        #expect(try client.get() == content(50, seed: 2))
        #expect(try store.files().count == 1)
    }

    @Test(arguments: [
        ("bytes=0-0", 206, 0..<1), ("bytes=10-19", 206, 10..<20), ("bytes=990-2000", 206, 990..<1000),
        ("bytes=-1", 206, 999..<1000), ("bytes=0-1,5-6", 200, 0..<1000), ("bytes=9-1", 200, 0..<1000),
    ])
    func rangeRequestReturnsItsBytes(field: String, status: Int, range: Range<Int>) throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let body = content(1000)
        _ = try client.put(body)
        let response = try client.send("GET", fields: ["Range": field])
        #expect(response.status == status)
        #expect(response.body == Array(body[range]))
        let expected = status == 206 ? "bytes \(range.lowerBound)-\(range.upperBound - 1)/1000" : nil
        #expect(response.fields["content-range"] == expected)
    }

    @Test func refusesARangePastTheEnd() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        _ = try client.put(content(10))
        let response = try client.send("GET", fields: ["Range": "bytes=10-"])
        #expect(response.error == "416 InvalidRange")
        #expect(response.fields["content-range"] == "bytes */10")
    }

    @Test func saysThatThereIsNothing() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        #expect(try client.send("GET").error == "404 NoSuchKey")
        let head = try client.send("HEAD")
        #expect(head.status == 404)
        #expect(head.fields["x-oss-err"] == head.fields["x-oss-error"])
        let document = try #require(head.fields["x-oss-err"].flatMap { Base64.decode($0) })
        #expect(String(decoding: document, as: UTF8.self).contains("<Code>NoSuchKey</Code>"))
        let id = try #require(head.fields["x-oss-request-id"])
        #expect(String(decoding: document, as: UTF8.self).contains("<RequestId>\(id)</RequestId>"))
    }

    @Test func verifiesContentMD5() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let wrong = StoreClient.md5(content(10, seed: 2))
        #expect(try client.put(content(10), fields: ["Content-MD5": wrong]).error == "400 InvalidDigest")
        #expect(try client.put(content(10), fields: ["Content-MD5": "x"]).error == "400 InvalidDigest")
        #expect(try store.snapshot().object == nil)
        #expect(try store.files().isEmpty)
    }

    @Test func forgetsABodyThatNeverEnded() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        do {
            let connection = try RawConnection(port: client.port)
            try connection.send(client.head("PUT", length: 1000))
            try connection.send(content(500))
        }
        store.server.stop(drainingFor: .seconds(10))
        #expect(try store.files().isEmpty)
        #expect(try store.snapshot().object == nil)
    }

    @Test(arguments: [
        ("GET", "acl"), ("PUT", "tagging"), ("POST", "append&position=0"), ("DELETE", ""),
        ("GET", "x-oss-process=style"),
        ("POST", ""), ("OPTIONS", ""), ("GET", "uploads"), ("HEAD", "uploadId=x"),
    ])
    func refusesOtherOperations(method: String, query: String) throws {
        let store = try TestStore(inMemory: true)
        let response = try store.client().send(method, query: query, body: method == "PUT" ? [1] : nil)
        #expect(response.status == 501)
        #expect(try store.files().isEmpty)
    }

    @Test(arguments: ["partNumber=1", "uploadId=x"])
    func halfOfAPartsNameIsRefused(query: String) throws {
        let store = try TestStore(inMemory: true)
        #expect(try store.client().send("PUT", query: query, body: [1]).error == "400 InvalidArgument")
        #expect(try store.files().isEmpty)
    }

    @Test func copyRequestIsRefused() throws {
        let store = try TestStore(inMemory: true)
        let response = try store.client().put([], fields: ["x-oss-copy-source": "/bucket/other"])
        #expect(response.error == "501 NotImplemented")
    }

    @Test func ignoresParametersThatChangeNothing() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        _ = try client.put(content(10))
        #expect(try client.send("GET", query: "response-content-type=a%2Fb&whatever").body == content(10))
    }
}
