import Basics
import Crypto
import Database
import DatabaseTesting
import EngineCopy
import Foundation
import HTTPTestClient
import HTTPTypes
import S3Engine
import StoreProtocol
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import DirectoryEngine
@testable import ObjectStore
@testable import StoreServer

/// A store in a temporary folder, with a server in front; both are removed after the test.
final class TestStore {
    static let partSize: Int64 = 65_536

    /// A policy whose decisions the test sets.
    final class Policy: AccessPolicy {
        let decision = Lock(AccessDecision.allowed(partSize: TestStore.partSize, needsActivity: false))
        let touched = Lock<[String]>([])
        /// The number of bytes that may still be written; `nil` = no limit.
        let bytesLeft = Lock<Int64?>(nil)

        func decide(_ claims: CredentialClaims, in connection: ReadConnection) throws -> AccessDecision {
            decision.withLock { $0 }
        }

        func excess(_ claims: CredentialClaims, bytes: Int64, in connection: ReadConnection) throws -> String? {
            let used = try connection.first("SELECT sum(bytes) FROM store_usage") { $0.int64(0) } ?? 0
            return bytesLeft.withLock { $0 }.flatMap { used + bytes > $0 ? "you may have \($0) bytes" : nil }
        }

        func recordActivity(uploadID: String, in transaction: Connection) throws {
            touched.withLock { $0.append(uploadID) }
        }
    }

    /// The database of a store, which is older or newer than others of the same folder.
    struct Place {
        let folder: TestFolder
        /// The name of the file.
        let database: String
        let clock: ManualClock
    }

    private let folder: TestFolder
    let database: Database
    let policy = Policy()
    let clock: ManualClock
    private(set) var store: ObjectStore
    private(set) var server: ObjectStoreServer
    private let configuration: ObjectStoreConfiguration
    private let directorySettings: DirectoryConfiguration
    /// The engine, which survives restarts if its files are not in a directory.
    private var engine: (any ObjectEngine)?
    private let configure: (inout StoreServerConfiguration) -> Void

    var directory: URL { folder.url }

    /// - Parameters:
    ///   - inMemory: as for ``TestFolder``.
    ///   - engine: `nil` = that of all tests.
    ///   - place: `nil` = a new folder.
    init(
        _ configuration: ObjectStoreConfiguration = .init(), files: DirectoryConfiguration = .init(),
        inMemory: Bool = false, engine: (any ObjectEngine)? = nil, at place: Place? = nil,
        configure: @escaping (inout StoreServerConfiguration) -> Void = { _ in }
    ) throws {
        self.configuration = configuration
        directorySettings = files
        self.configure = configure
        folder = try place?.folder ?? TestFolder(inMemory: inMemory)
        clock = place?.clock ?? ManualClock()
        database = try DatabaseEngine.open("\(folder.path)/\(place?.database ?? "db")", ObjectStore.migrations)
        let path = folder.path + "/store"
        let engine = try engine ?? TestEngine.make(path, files)
        self.engine = engine is DirectoryEngine ? nil : engine
        store = try Self.open(engine, database, clock, configuration)
        server = try Self.serve(store, policy, configure)
    }

    /// Makes a store in memory whose engine does not depend on the environment.
    convenience init(_ kind: TestEngine) throws {
        let folder = try TestFolder(inMemory: true)
        try self.init(
            engine: TestEngine.make(folder.path + "/store", kind),
            at: Place(folder: folder, database: "db", clock: ManualClock()))
    }

    /// Runs `body` with the object of the claims, as a request that reads it.
    func withObject<T>(_ claims: CredentialClaims, _ body: (StoredObject) throws -> T) throws -> T {
        try store.withObject(store.decide(claims, policy, readsObject: true), body)
    }

    deinit {
        server.stop(drainingFor: .zero)
        store.work.discards.drain()
        store.work.removals.drain()
        database.close()
    }

    /// Restarts the store; only the folder and the database are kept.
    ///
    /// - Parameters:
    ///   - isClean: whether the previous process stopped cleanly, or was killed.
    ///   - other: the engine from now on; `nil` = as before.
    ///   - between: runs while no process uses the folder.
    func restart(
        isClean: Bool = false, with other: (any ObjectEngine)? = nil, between: () throws -> Void = {}
    ) throws {
        server.stop(drainingFor: .zero)
        if isClean { store.close() }
        store.work.discards.drain()
        store.work.removals.drain()
        try between()
        if let other { self.engine = other is DirectoryEngine ? nil : other }
        let engine = try other ?? engine ?? TestEngine.make(directory.appending(path: "store").path, directorySettings)
        store = try Self.open(engine, database, clock, configuration)
        server = try Self.serve(store, policy, configure)
    }

    func claims(
        uploadID: String = "upload-1", operations: CredentialClaims.Operations = [.read, .write], lifetime: Int64 = 3600
    ) -> CredentialClaims {
        CredentialClaims(
            uploadID: uploadID, bucket: "bucket", key: "uploads/2026/11/21/\(uploadID)", operations: operations,
            expiresAt: clock.now().adding(seconds: lifetime), holder: .init(.apiKey(id: "key", epoch: 1), of: 1))
    }

    func client(
        uploadID: String = "upload-1", operations: CredentialClaims.Operations = [.read, .write], lifetime: Int64 = 3600
    ) -> StoreClient {
        let claims = claims(uploadID: uploadID, operations: operations, lifetime: lifetime)
        return StoreClient(port: server.port, claims: claims, credentials: store.issuer.issue(claims), clock: clock)
    }

    func snapshot(_ uploadID: String = "upload-1") throws -> StoreSnapshot {
        try database.readBlocking { try store.snapshot(uploadID: uploadID, in: $0) }
    }

    /// Returns the names of all data files.
    func files() throws -> [String] {
        store.work.discards.drain()
        store.work.removals.drain()
        if let memory = engine as? MemoryEngine { return memory.files.withLock { Array($0.keys) } }
        if let segments = engine as? S3Engine { return try segmentedFiles(segments) }
        if let paired = engine as? PairedEngines {
            return try segmentedFiles(paired.bucket) + files(in: paired.directory)
        }
        if let delayed = engine as? DelayedEngine { return delayed.base.files.withLock { Array($0.keys) } }
        return try files(in: store.data)
    }

    private func files(in directory: DirectoryEngine) throws -> [String] {
        try DirectoryEngine.folders.flatMap { try directory.files(inFolder: $0).map(\.fileID) }
    }

    /// Returns the ids of the files that have a row, after it compared the bucket's keys with the rows.
    private func segmentedFiles(_ engine: S3Engine) throws -> [String] {
        store.work.upkeep.drain()
        // A server may not have dropped its reader yet, which keeps the bytes of a file.
        while try database.readBlocking({ try !StoreRecords($0).scheduledRemovals(after: "", limit: 1).isEmpty }) {
            store.work.removals.resume()
            store.work.removals.drain()
        }
        let (files, segments) = try database.readBlocking { connection in
            (
                try connection.query("SELECT file_id FROM store_files") { $0.text("file_id") },
                try connection.query("SELECT segment_id FROM store_segments") { $0.text("segment_id") }
            )
        }
        let keys = try TestBucket.of(engine)?.keys().filter { $0.contains("/data/") } ?? []
        #expect(Set(keys.map { $0.suffix(32) }) == Set(segments.map { $0.suffix(32) }))
        return files
    }

    /// Whether a part that replaces another one is a further file, as long as the upload is not completed.
    var keepsReplacedParts: Bool { !(engine is S3Engine || engine is PairedEngines) }

    /// Returns engines for a copy of all objects, with the directory and the bucket of this store.
    func pair(_ bucket: S3Engine, target: ObjectEngineKind) throws -> PairedEngines {
        PairedEngines(
            try DirectoryEngine(path: directory.appending(path: "store").path, configuration: directorySettings),
            bucket, target: target)
    }

    func path(_ fileID: String) -> String {
        directory.appending(path: "store/data/\(fileID.prefix(2))/\(fileID)").path
    }

    private static func open(
        _ engine: any ObjectEngine, _ database: Database, _ clock: ManualClock,
        _ configuration: ObjectStoreConfiguration
    ) throws -> ObjectStore {
        let store = try ObjectStore(
            engine: engine, database: database,
            keyring: Keyring(root: Secret([UInt8](repeating: 1, count: 32))), clock: clock,
            permit: ClockGuard(clock: clock).permit(), configuration: configuration)
        store.work.upkeep.drain()
        store.work.factsWriter.drain()
        return store
    }

    private static func serve(
        _ store: ObjectStore, _ policy: Policy, _ configure: (inout StoreServerConfiguration) -> Void
    ) throws -> ObjectStoreServer {
        var configuration = StoreServerConfiguration()
        configure(&configuration)
        return try ObjectStoreServer(
            address: PeerAddress(host: "127.0.0.1", port: 0), store: store, policy: policy, configuration: configuration
        )
    }
}

extension ObjectStore {
    var reconciler: Reconciler {
        guard let upkeep = work.upkeep as? DirectoryUpkeep else { preconditionFailure("the test is for the directory") }
        return upkeep.reconciler
    }
}
