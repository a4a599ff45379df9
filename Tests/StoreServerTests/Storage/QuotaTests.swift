import Basics
import Database
import Foundation
import HTTPTestClient
import StoreServer
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import ObjectStore

/// The behavior when a body would exceed its owner's quota.
@Suite(.timeLimited) struct QuotaTests {
    private let test: TestStore
    private let part = content(Int(TestStore.partSize))

    init() throws {
        test = try TestStore(inMemory: true)
    }

    private func usage() throws -> Int64 {
        try test.database.readBlocking { connection in
            try connection.first("SELECT sum(bytes) FROM store_usage") { $0.int64(0) } ?? 0
        }
    }

    @Test func aPutThatIsTooMuchIsRefusedAtItsHeader() throws {
        let client = test.client()
        test.policy.bytesLeft.withLock { $0 = 1000 }
        let files = try test.files()
        #expect(try client.put(content(1001)).error == "403 QuotaExceeded")
        #expect(try test.files() == files)
        #expect(try client.put(content(1000)).status == 200)
        // The replaced object's bytes become available.
        #expect(try client.put(content(999)).status == 200)
        #expect(try client.put(content(1001)).error == "403 QuotaExceeded")
        #expect(try usage() == 999)
        #expect(try client.get() == content(999))
    }

    @Test func partsAreCountedAsTheyCome() throws {
        let client = test.client()
        test.policy.bytesLeft.withLock { $0 = 2 * TestStore.partSize }
        let id = try client.initiate()
        #expect(try client.part(1, of: id, part).status == 200)
        #expect(try client.part(2, of: id, part).status == 200)
        let refused = try client.part(3, of: id, [1])
        #expect(refused.error == "403 QuotaExceeded")
        #expect(try refused.element("Message").contains("you may have"))
        // A repeated part replaces itself.
        #expect(try client.part(2, of: id, content(Int(TestStore.partSize), seed: 2)).status == 200)
        #expect(try client.send("POST", query: "uploads").error == "403 QuotaExceeded")
        #expect(try client.completeAll(id).status == 200)
        #expect(try usage() == 2 * TestStore.partSize)
        #expect(try client.send("GET").body.count == 2 * Int(TestStore.partSize))
    }

    @Test func aBodyWithoutALengthIsRefusedInItsCommit() throws {
        let client = test.client()
        test.policy.bytesLeft.withLock { $0 = 100 }
        let connection = try RawConnection(port: test.server.port)
        try connection.send(client.head("PUT", length: nil, fields: ["Transfer-Encoding": "chunked"]))
        try connection.send("c8\r\n" + String(repeating: "x", count: 200) + "\r\n0\r\n\r\n")
        #expect(try connection.response().error == "403 QuotaExceeded")
        #expect(try usage() == 0)
        #expect(try test.files().isEmpty)
    }

    @Test func removedPartsAreTakenOffTheUsage() throws {
        let client = test.client()
        let first = try client.initiate()
        let second = try client.initiate()
        for number in 1...3 {
            _ = try client.part(number, of: first, part)
            _ = try client.part(number, of: second, part)
        }
        #expect(try usage() == 6 * TestStore.partSize)
        #expect(try client.send("DELETE", query: "uploadId=\(first)").status == 204)
        #expect(try usage() == 3 * TestStore.partSize)
        let etags = try client.send("GET", query: "uploadId=\(second)").elements("ETag")
        #expect(try client.complete(second, Array(zip(1...2, etags)).map { ($0, $1) }).status == 200)
        #expect(try usage() == 2 * TestStore.partSize)
        try test.database.writeBlocking { [store = test.store] in
            try store.discard(uploadID: "upload-1", in: $0)
        }
        #expect(try usage() == 0)
    }
}
