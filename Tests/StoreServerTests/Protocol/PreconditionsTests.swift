import Basics
import HTTPTestClient
import HTTPTypes
import TestSupport
import Testing

@testable import ObjectStore
@testable import StoreProtocol

/// Preconditions (RFC 9110, section 13).
@Suite(.timeLimited) struct PreconditionsTests {
    private static let etag = "\"0CC175B9C0F1B6A831C399E269772661\""
    /// Sun, 06 Nov 1994 08:49:37 GMT, with a fraction of a second, which header fields cannot express.
    private static let stored = UnixTime(microseconds: 784_111_777_654_321)
    private static let before = "Sun, 06 Nov 1994 08:49:36 GMT"
    private static let same = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let after = "Sun, 06 Nov 1994 08:49:38 GMT"

    @Test(
        arguments: [
            ([:], .met),
            (["if-match": etag], .met),
            (["if-match": "*"], .met),
            (["if-match": "\"a\", \(etag)"], .met),
            (["if-match": "0cc175b9c0f1b6a831c399e269772661"], .met),
            (["if-match": "\"a\""], .failed),
            (["if-match": "W/\(etag)"], .failed),
            (["if-match": ""], .failed),
            (["if-unmodified-since": same], .met),
            (["if-unmodified-since": after], .met),
            (["if-unmodified-since": before], .failed),
            (["if-unmodified-since": "yesterday"], .met),
            (["if-none-match": etag], .notModified),
            (["if-none-match": "\"a\" ,\(etag)"], .notModified),
            (["if-none-match": "W/\(etag)"], .notModified),
            (["if-none-match": "*"], .notModified),
            (["if-none-match": "\"a\""], .met),
            (["if-modified-since": before], .met),
            (["if-modified-since": same], .notModified),
            (["if-modified-since": after], .notModified),
            (["if-modified-since": "0"], .met),
            // A condition on tags takes precedence over one on dates.
            (["if-match": etag, "if-unmodified-since": before], .met),
            (["if-none-match": "\"a\"", "if-modified-since": same], .met),
            (["if-none-match": etag, "if-modified-since": before], .notModified),
            // A failed condition takes precedence over an unmodified object.
            (["if-match": "\"a\"", "if-none-match": etag], .failed),
            (["if-match": etag, "if-none-match": etag], .notModified),
            (["if-unmodified-since": before, "if-modified-since": same], .failed),
        ] as [([String: String], Preconditions.Outcome)])
    func preconditionsDecideInTheOrderOfTheSpecification(fields: [String: String], outcome: Preconditions.Outcome) {
        var requestFields = HTTPFields()
        for (name, value) in fields { requestFields.append(name, value) }
        #expect(Preconditions(requestFields).outcome(etag: Self.etag, lastModified: Self.stored) == outcome)
    }

    @Test func repeatedPreconditionFieldsAreJoined() {
        let requestFields: HTTPFields = ["If-None-Match": "\"a\"", "if-none-match": Self.etag]
        #expect(Preconditions(requestFields).outcome(etag: Self.etag, lastModified: Self.stored) == .notModified)
    }

    @Test func answersWithoutBody() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let body = content(1000)
        let etag = try #require(client.put(body).fields["etag"])
        for method in ["GET", "HEAD"] {
            let unchanged = try client.send(method, fields: ["If-None-Match": etag, "Range": "bytes=0-1"])
            #expect(unchanged.status == 304)
            #expect(unchanged.body.isEmpty)
            #expect(unchanged.fields["etag"] == etag)
            #expect(unchanged.fields["last-modified"] == Timestamps.http(store.clock.now()))
            // The length of a 200 response, or no field at all (RFC 9110, section 8.6).
            #expect(unchanged.fields["content-length"] == "1000")
            #expect(try client.send(method, fields: ["If-None-Match": "\"a\""]).status == 200)
        }
    }

    @Test func goesOnAfterA304() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let etag = try #require(client.put(content(10)).fields["etag"])
        let connection = try RawConnection(port: client.port)
        try connection.send(client.head("GET", length: nil, fields: ["If-None-Match": etag]))
        #expect(try connection.response().status == 304)
        try connection.send(client.head("GET", length: nil))
        #expect(try connection.response().body == content(10))
    }

    @Test func saysWhatFailed() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        _ = try client.put(content(1000))
        #expect(try client.send("GET", fields: ["If-Match": "\"a\""]).error == "412 PreconditionFailed")
        let head = try client.send("HEAD", fields: ["If-Match": "\"a\""])
        #expect(head.status == 412)
        let document = try #require(head.fields["x-oss-err"].flatMap { Base64.decode($0) })
        #expect(String(decoding: document, as: UTF8.self).contains("<Code>PreconditionFailed</Code>"))
    }

    @Test func sendsTheWholeWhereTheRangeIsOfAnother() throws {
        let store = try TestStore(inMemory: true)
        let client = store.client()
        let body = content(1000)
        let etag = try #require(client.put(body).fields["etag"])
        func get(_ condition: String, range: String = "bytes=1-2") throws -> RawConnection.Response {
            try client.send("GET", fields: ["Range": range, "If-Range": condition])
        }
        let part = try get(etag)
        #expect(part.status == 206)
        #expect(part.body == Array(body[1...2]))
        for other in ["\"a\"", "W/\(etag)", Timestamps.http(store.clock.now())] {
            let whole = try get(other)
            #expect(whole.status == 200)
            #expect(whole.body == body)
            #expect(whole.fields["content-range"] == nil)
        }
        #expect(try get("\"a\"", range: "bytes=1000-").status == 200)
        #expect(try get(etag, range: "bytes=1000-").error == "416 InvalidRange")
    }
}
