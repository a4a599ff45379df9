import Basics
import Checksums
import Crypto
import Database
import DatabaseTesting
import S3Engine
import StoreTesting
import TestSupport
import Testing

@testable import ObjectStore
@testable import StoreProtocol

/// Gateways in one process that have a database and a bucket in common.
final class Replicas: Sendable {
    private struct Policy: AccessPolicy {
        func decide(_ claims: CredentialClaims, in connection: ReadConnection) -> AccessDecision {
            .allowed(partSize: 0, needsActivity: false)
        }

        func excess(_ claims: CredentialClaims, bytes: Int64, in connection: ReadConnection) -> String? { nil }
        func tags(uploadID: String, in connection: ReadConnection) -> [String: String]? { nil }
        func record(_ change: StaticKeyChange, in transaction: Connection) {}
        func recordExpiry(ofKey id: String, count: Int, in transaction: Connection) {}
        func recordActivity(uploadID: String, in transaction: Connection) {}
    }

    private let folder: TestFolder
    private let bucket: TestBucket
    private let clock = ManualClock()
    private let database: Database
    let policy: any AccessPolicy = Policy()
    let stores: [ObjectStore]

    /// - Parameter removalDelay: the time for which files without rows are kept.
    init(count: Int, removalDelay: Duration = .zero) throws {
        folder = try TestFolder(inMemory: true)
        bucket = try TestBucket(clock: clock)
        var options = Database.Options()
        options.onCall = { StoppedRequest.stop() }
        let database = try DatabaseEngine.open(folder.path + "/replicas", ObjectStore.migrations, options)
        self.database = database
        var configuration = ObjectStoreConfiguration()
        configuration.hasReplicas = true
        configuration.removalDelay = removalDelay
        var stores: [ObjectStore] = []
        for _ in 0..<count {
            let store = try ObjectStore(
                engine: bucket.engine(spoolFolder: folder.path), database: database,
                keyring: Keyring(root: Secret([UInt8](repeating: 1, count: 32))), clock: clock,
                permit: ClockGuard(clock: clock).permit(), configuration: configuration)
            store.work.upkeep.drain()
            stores.append(store)
        }
        self.stores = stores
    }

    deinit {
        for store in stores { store.close() }
        database.close()
    }

    func claims(_ name: String) -> CredentialClaims {
        CredentialClaims(
            uploadID: name, bucket: "bucket", key: "uploads/\(name)", operations: [.read, .write],
            expiresAt: clock.now().adding(seconds: 3600), holder: .init(.apiKey(id: "key", epoch: 1), of: 1))
    }

    func permit(_ name: String) -> WritePermit { WritePermit(claims: claims(name), policy: policy) }

    func object(_ name: String) throws -> StoredObject? {
        try database.readBlocking { try StoreRecords($0).object(uploadID: name) }
    }

    func parts(of id: String) throws -> [PartRecord] {
        try database.readBlocking { try StoreRecords($0).parts(of: id) }
    }

    /// Returns the files and segments that are to be removed.
    func scheduledRemovals() throws -> [String] {
        try database.readBlocking { try StoreRecords($0).scheduledRemovals(after: "", limit: 100) }
    }

    /// Has a gateway that does not renew it pause the removals.
    func pauseRemovals(until end: UnixTime) throws {
        try database.writeBlocking { try StoreRecords($0).pauseRemovals("other", until: end) }
    }

    /// Returns the bytes of an object, which are compared with its checksum.
    func read(_ name: String) throws -> [UInt8]? {
        // Another gateway may store the object in larger segments meanwhile, and remove the earlier ones.
        for attempt in 1... {
            guard let object = try object(name) else { return nil }
            do {
                var bytes: [UInt8] = []
                try stores[0].read(object, 0..<object.size) { bytes += $0 }
                return bytes
            } catch StorageFailure.missing where attempt < 5 {
                continue
            }
        }
        return nil
    }

    /// Removes what is scheduled at one of the gateways.
    func removeFiles(at replica: Int) {
        stores[replica].work.removals.resume()
        stores[replica].work.removals.drain()
    }
}

/// Stored bytes, and the beginning of their request.
struct Stored: Sendable {
    let bytes: [UInt8]
    let etag: String
    /// The step of the schedule.
    let begin: Int

    var crc64: UInt64 {
        var crc64 = CRC64()
        bytes.withUnsafeBytes { crc64.update($0) }
        return crc64.value
    }

    init(_ bytes: [UInt8], begin: Int, etag: String? = nil) {
        self.bytes = bytes
        self.begin = begin
        self.etag = etag ?? ETag.whole(md5: Digest.md5(bytes), .oss)
    }
}
