import Basics
import Crypto
import Database
import StoreTesting
import TestSupport
import Testing

@testable import ObjectStore
@testable import StoreProtocol

@Suite(.timeLimited) struct DirectListTests {
    /// Hides all objects below `hidden/`.
    private struct Policy: AccessPolicy {
        func decide(_ claims: CredentialClaims, in connection: ReadConnection) throws -> AccessDecision {
            claims.key.hasPrefix("hidden/") ? .denied : .readOnly(needsActivity: false)
        }

        func excess(_ claims: CredentialClaims, bytes: Int64, in connection: ReadConnection) throws -> String? { nil }

        func recordActivity(uploadID: String, in transaction: Connection) throws {}
    }

    /// One page reads a limited number of rows; its end must lead past all of them.
    @Test func aPageThatEndsBehindManyHiddenObjectsRepeatsNothing() throws {
        let store = try TestStore(inMemory: true)
        let keys = (0..<10_010).map { "hidden/\($0)" } + ["seen/1", "seen/2", "then/1"]
        let now = store.clock.now()
        try store.database.writeBlocking { connection in
            for (number, key) in keys.enumerated() {
                _ = try StoreRecords(connection).replaceObject(
                    with: StoredObject(
                        StoredObject.Place(bucket: "bucket", key: key, uploadID: "\(number)"),
                        StoredObject.Content(size: 1, etag: "", crc64: 0), fileID: "\(number)", createdAt: now))
            }
        }
        let key = StaticKey(id: "reader", secret: Secret("secret"), bucket: "bucket", prefix: "", access: .read)
        var (token, prefixes, pages) = ("", [String](), 0)
        repeat {
            let target = try RequestTarget(
                "/bucket?list-type=2&delimiter=/&continuation-token=\(token)", host: "", domains: [])
            let list = try store.store.list(ObjectListQuery(target, limit: 1000), for: key, policy: Policy())
            #expect(list.objects.isEmpty)
            prefixes += list.prefixes
            token = list.isTruncated ? ObjectListQuery.token(after: list.last) : ""
            pages += 1
        } while !token.isEmpty && pages < 10
        #expect(prefixes == ["seen/", "then/"])
        #expect(pages == 2)
    }
}
