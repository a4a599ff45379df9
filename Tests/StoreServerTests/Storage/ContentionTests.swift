import Basics
import Crypto
import Database
import Dispatch
import Foundation
import HTTPTestClient
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import ObjectStore
@testable import StoreProtocol

/// Several connections for one upload: each ends with a result that OSS documents, and never with wrong bytes.
@Suite(.timeLimited) struct ContentionTests {
    private static let partSize = Int(TestStore.partSize)

    /// Returns a connection that has sent the header of a part and a piece of its body, which was received.
    private func begin(
        _ number: Int, of id: String, _ client: StoreClient, body: [UInt8], sending count: Int
    ) throws -> RawConnection {
        let connection = try RawConnection(port: client.port)
        try connection.send(
            client.head(
                "PUT", query: "partNumber=\(number)&uploadId=\(id)", length: body.count,
                fields: ["Expect": "100-continue"]))
        // The response shows that the store has begun the part.
        guard try connection.response().status == 100 else { throw RawConnection.Failure.ended }
        try connection.send(Array(body.prefix(count)))
        return connection
    }

    @Test func letsAReconnectingClientSendItsPartAgain() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        let stale = content(Self.partSize, seed: 1)
        let fresh = content(Self.partSize, seed: 2)
        let dead = try begin(1, of: id, client, body: stale, sending: 1000)
        let response = try client.part(1, of: id, fresh)
        #expect(response.status == 200)
        // The bytes that the dead connection had in flight arrive late: they are written first and then replaced.
        try dead.send(Array(stale.dropFirst(1000)))
        #expect(try dead.response().fields["etag"] == ETag.whole(md5: Digest.md5(stale), .oss))
        #expect(try client.send("GET", query: "uploadId=\(id)").elements("Size") == ["\(Self.partSize)"])
        #expect(try client.complete(id, [(1, response.fields["etag"] ?? "")]).status == 200)
        #expect(try client.get() == fresh)
        #expect(try store.files().count == 1)
    }

    /// Whatever the order in which they end, the part that was begun last stays.
    @Test(arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    func keepsThePartThatWasBegunLast(order: [Int]) throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        let bodies = (0..<3).map { content(1000 + $0, seed: UInt64($0) + 40) }
        let senders = try bodies.map { try begin(1, of: id, client, body: $0, sending: 500) }
        for index in order {
            try senders[index].send(Array(bodies[index].dropFirst(500)))
            #expect(try senders[index].response().status == 200)
        }
        #expect(try client.completeAll(id).status == 200)
        #expect(try client.get() == bodies[2])
        #expect(try store.files().count == 1)
    }

    @Test func givesThePlaceOfADeadConnectionToTheNext() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        let first = try begin(1, of: id, client, body: content(1000, seed: 1), sending: 999)
        _ = consume first
        // The next one may arrive before the store has noticed the end of the first; in both cases its bytes are the part's.
        #expect(try client.part(1, of: id, content(10, seed: 2)).status == 200)
        #expect(try client.completeAll(id).status == 200)
        #expect(try client.get() == content(10, seed: 2))
        #expect(try store.files().count == 1)
    }

    @Test func completesWhileAnUnlistedPartIsBeingSent() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        let first = try client.part(1, of: id, content(Self.partSize))
        let body = content(Self.partSize, seed: 9)
        let late = try begin(2, of: id, client, body: body, sending: 100)
        #expect(try client.complete(id, [(1, first.fields["etag"] ?? "")]).status == 200)
        try late.send(Array(body.dropFirst(100)))
        #expect(try late.response().error == "503 ServiceUnavailable")
        #expect(try client.get() == content(Self.partSize))
    }

    @Test func leavesPartsAloneWhenACompleteFails() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        let body = content(500)
        let late = try begin(1, of: id, client, body: body, sending: 100)
        #expect(try client.completeAll(id).error == "400 InvalidPart")
        try late.send(Array(body.dropFirst(100)))
        #expect(try late.response().status == 200)
    }

    @Test func abortsWhileAPartIsBeingSent() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        let body = content(500)
        let late = try begin(1, of: id, client, body: body, sending: 100)
        #expect(try client.send("DELETE", query: "uploadId=\(id)").status == 204)
        try late.send(Array(body.dropFirst(100)))
        #expect(try late.response().error == "503 ServiceUnavailable")
        #expect(try store.files().isEmpty)
    }

    @Test func discardsWhileAPartIsBeingSent() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        let body = content(500)
        let late = try begin(1, of: id, client, body: body, sending: 100)
        try store.database.writeBlocking { [store = store.store] in
            try store.discard(uploadID: "upload-1", in: $0)
        }
        try late.send(Array(body.dropFirst(100)))
        #expect(try late.response().error == "404 NoSuchUpload")
        #expect(try store.files().isEmpty)
    }

    @Test func givesTwoSendersOfOnePartOneWinner() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        let bodies = (0..<4).map { content(Self.partSize, seed: UInt64($0) + 20) }
        DispatchQueue.concurrentPerform(iterations: 16) { index in
            _ = try? client.part(1, of: id, bodies[index % 4])
        }
        let listed = try client.send("GET", query: "uploadId=\(id)").elements("ETag")
        let winner = try #require(bodies.first { ["&quot;\(Hex.upper(Digest.md5($0)))&quot;"] == listed })
        #expect(try client.completeAll(id).status == 200)
        #expect(try client.get() == winner)
        #expect(try store.files().count == 1)
    }

    @Test func takesPartsInParallel() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let id = try client.initiate()
        let body = content(12 * Self.partSize + 1)
        let failures = Lock(0)
        DispatchQueue.concurrentPerform(iterations: 13) { index in
            let start = index * Self.partSize
            let piece = Array(body[start..<min(start + Self.partSize, body.count)])
            if (try? client.part(index + 1, of: id, piece))?.status != 200 {
                failures.withLock { $0 += 1 }
            }
        }
        #expect(failures.withLock { $0 } == 0)
        #expect(try client.completeAll(id).status == 200)
        #expect(try client.get() == body)
    }

    @Test func waitsForTheWriteInFlight() throws {
        let writes = WritesInFlight()
        let claim = writes.begin(part: 1, of: "m")
        let order = Lock<[String]>([])
        let inside = DispatchSemaphore(value: 0)
        let leave = DispatchSemaphore(value: 0)
        let write = TestThread {
            try? claim.holding {
                inside.signal()
                try leave.waitForSignal()
                order.withLock { $0.append("written") }
            }
        }
        try inside.waitForSignal()
        let completion = TestThread {
            writes.exclusively("m") { order.withLock { $0.append("completed") } }
        }
        leave.signal()
        try write.join()
        try completion.join()
        #expect(order.withLock { $0 } == ["written", "completed"])
        #expect(throws: WritesInFlight.Revoked.self) { try claim.holding {} }
        writes.end(claim, part: 1, of: "m")
        let next = writes.begin(part: 1, of: "m")
        #expect(try next.holding { "held" } == "held")
        writes.end(next, part: 1, of: "m")
    }
}
