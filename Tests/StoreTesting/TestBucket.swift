package import Basics
import Crypto
import Database
import DatabaseTesting
import HTTPServer
import HTTPTypes
import ObjectStore
package import S3Engine
import Sockets
package import StoreClient
package import StoreProtocol
import StoreServer
import Synchronization
import TestSupport

/// A bucket for an engine: a store in memory of this project, with a server of its own. It lives as long as the engine, which gets its
/// credentials from it.
package final class TestBucket: CredentialSource {
    private struct Policy: AccessPolicy {
        func decide(_ claims: CredentialClaims, in connection: ReadConnection) -> AccessDecision {
            .allowed(partSize: 0, needsActivity: false)
        }

        func excess(_ claims: CredentialClaims, bytes: Int64, in connection: ReadConnection) -> String? { nil }

        func recordActivity(uploadID: String, in transaction: Connection) {}
    }

    private struct Reference {
        weak var bucket: TestBucket?
    }

    /// The buckets by their engines.
    private static let made = Lock<[ObjectIdentifier: Reference]>([:])

    private static let key = StaticKey(
        id: "engine", secret: Secret("engine-secret"), bucket: "engine", prefix: "", access: .write)

    private let folder: TestFolder
    private let database: Database
    private let store: ObjectStore
    private let server: ObjectStoreServer
    private let clock: any WallClock

    /// - Parameter clock: of the bucket and of its clients.
    package init(clock: any WallClock = SystemClock()) throws {
        self.clock = clock
        folder = try TestFolder(inMemory: true)
        database = try DatabaseEngine.open(folder.path + "/db", ObjectStore.migrations)
        var configuration = ObjectStoreConfiguration()
        configuration.staticKeys = [Self.key]
        store = try ObjectStore(
            engine: MemoryEngine(), database: database,
            keyring: Keyring(root: Secret([UInt8](repeating: 2, count: 32))), clock: clock,
            configuration: configuration)
        // On a busy machine a test may pause for minutes between two pieces.
        var surface = StoreServerConfiguration()
        surface.daemon.idleTimeout = .seconds(3600)
        surface.daemon.slowGrace = .seconds(3600)
        server = try ObjectStoreServer(
            address: PeerAddress(host: "127.0.0.1", port: 0), store: store, policy: Policy(), configuration: surface)
    }

    deinit {
        server.stop(drainingFor: .zero)
        store.close()
        database.close()
    }

    /// The settings of an engine in this bucket.
    package func configuration() throws -> S3EngineConfiguration {
        S3EngineConfiguration(
            S3Bucket(
                endpoint: try StoreEndpoint("http://127.0.0.1:\(server.port)"), region: "us-east-1",
                name: Self.key.bucket), prefix: "gateway/")
    }

    /// Returns a client for the probe and the owner of a prefix.
    package func client() throws -> S3Client {
        try configuration().controlClient(self, clock: clock)
    }

    /// Returns an engine in this bucket.
    ///
    /// - Parameters:
    ///   - owner: the right to the prefix.
    ///   - spoolFolder: exists.
    package func engine(
        spoolFolder: String, owner: PrefixOwner? = nil,
        _ report: BucketReport = BucketReport(honorsConditions: true, hasMD5ETags: true),
        _ configure: (inout S3EngineConfiguration) -> Void = { _ in }
    ) throws -> S3Engine {
        var configuration = try configuration()
        configure(&configuration)
        let engine = S3Engine(
            configuration, report, credentials: self, owner: owner, spoolFolder: spoolFolder, clock: clock)
        Self.made.withLock { $0[ObjectIdentifier(engine)] = Reference(bucket: self) }
        return engine
    }

    /// Returns this bucket for repairs.
    package func offline(_ register: UploadRegister) throws -> OfflineBucket {
        OfflineBucket(
            try configuration(), BucketReport(honorsConditions: true, hasMD5ETags: true), credentials: self, owner: nil,
            register: register, clock: clock)
    }

    /// Returns an engine in a new bucket.
    ///
    /// - Parameter spoolFolder: exists.
    package static func makeEngine(
        spoolFolder: String, _ report: BucketReport = BucketReport(honorsConditions: true, hasMD5ETags: true),
        _ configure: (inout S3EngineConfiguration) -> Void = { _ in }
    ) throws -> S3Engine {
        try TestBucket().engine(spoolFolder: spoolFolder, report, configure)
    }

    /// Returns the bucket of an engine that was made here.
    package static func of(_ engine: S3Engine) -> TestBucket? {
        made.withLock { $0[ObjectIdentifier(engine)]?.bucket }
    }

    package func current() -> SigningCredentials {
        SigningCredentials(accessKeyID: Self.key.id, secret: Self.key.secret)
    }

    package func refused(_ credentials: SigningCredentials) {}

    /// Returns the sizes of the objects whose keys contain `text`, in order.
    package func sizes(ofKeysWith text: String) throws -> [Int64] {
        try database.readBlocking { connection in
            try connection.query("SELECT object_key, size FROM store_objects ORDER BY size") { row in
                row.text("object_key").contains(text) ? row.int64("size") : nil
            }.compactMap(\.self)
        }
    }

    /// Returns the keys of all objects, in order.
    package func keys() throws -> [String] {
        try database.readBlocking { connection in
            try connection.query("SELECT object_key FROM store_objects ORDER BY object_key") { $0.text("object_key") }
        }
    }
}
