import Basics
import Database
import HTTPTestClient
import StoreTesting
import TestSupport
import Testing

@testable import ObjectStore
@testable import StoreProtocol

/// The fields that a GET or HEAD gives back of what was stored with an object.
@Suite(.timeLimited) struct ServedFieldsTests {
    private func client(_ store: TestStore, _ dialect: StoreClient.Dialect) -> StoreClient {
        var client = store.client()
        client.dialect = dialect
        return client
    }

    @Test(arguments: [StoreClient.Dialect.oss, .s3])
    func aDeviceDoesNotDecideHowItsUploadIsShown(dialect: StoreClient.Dialect) throws {
        let store = try TestStore(inMemory: true)
        let client = client(store, dialect)
        let fields = [
            "Content-Type": "text/html", "Content-Disposition": "inline", "Content-Encoding": "gzip",
            "Cache-Control": "public", "Expires": "Fri, 01 Jan 2100 00:00:00 GMT", "Content-Language": "de",
        ]
        #expect(try client.put(content(10), fields: fields).status == 200)
        for method in ["GET", "HEAD"] {
            let response = try client.send(method)
            #expect(response.fields["content-disposition"] == "attachment")
            #expect(response.fields["content-type"] == "text/html" && response.fields["content-language"] == "de")
            for name in ["content-encoding", "cache-control", "expires"] { #expect(response.fields[name] == nil) }
        }
    }

    /// Rows of earlier releases may have such fields.
    @Test(arguments: [StoreClient.Dialect.oss, .s3])
    func aStoredFieldThatCannotBeSentKeepsNoAnswerBack(dialect: StoreClient.Dialect) throws {
        let store = try TestStore(inMemory: true)
        let client = client(store, dialect)
        #expect(try client.put(content(10)).status == 200)
        try store.database.writeBlocking { connection in
            _ = try connection.execute(
                "UPDATE store_objects SET kept = $1, content_type = $2",
                "meta-a: x\ry\nmeta-b c: d\nmeta-e: f\tg\nmeta-h: i",
                "a/b\r")
        }
        let response = try client.send("GET")
        #expect(response.status == 200 && response.body == content(10))
        #expect(response.fields["x-\(dialect == .oss ? "oss" : "amz")-meta-h"] == "i")
        #expect(response.fields["content-type"] == ContentType.unknown)
    }
}
