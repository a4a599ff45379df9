import Basics
import Crypto
import Database
import HTTPTypes
import ObjectStore
import StoreClient
import StoreProtocol
import StoreServer
import StoreTesting
import TestSupport

@testable import S3Engine

/// The project's own object store behind its server, with a static key.
final class LoopbackStore {
    private final class Policy: AccessPolicy {
        func decide(_ claims: CredentialClaims, in connection: ReadConnection) throws -> AccessDecision {
            .allowed(partSize: 0, needsActivity: false)
        }

        func excess(_ claims: CredentialClaims, bytes: Int64, in connection: ReadConnection) throws -> String? { nil }

        func recordActivity(uploadID: String, in transaction: Connection) throws {}
    }

    private static let secret = "the secret of the key"

    private let folder: TestFolder
    private let database: Database
    private let store: ObjectStore
    private let server: ObjectStoreServer

    init() throws {
        folder = try TestFolder(inMemory: true)
        database = try Database(path: folder.path + "/db", migrations: ObjectStore.migrations)
        var configuration = ObjectStoreConfiguration()
        configuration.minimumFreeBytes = 0
        configuration.staticKeys = [
            StaticKey(id: "tools", secret: Secret(Self.secret), bucket: "bucket", prefix: "", access: .write)
        ]
        store = try ObjectStore(
            engine: TestEngine.make(folder.path + "/store"), database: database,
            keyring: Keyring(root: Secret([UInt8](repeating: 1, count: 32))), clock: SystemClock(),
            permit: ClockGuard(clock: SystemClock()).permit(), configuration: configuration)
        server = try ObjectStoreServer(
            address: PeerAddress(host: "127.0.0.1", port: 0), store: store, policy: Policy(),
            configuration: StoreServerConfiguration())
    }

    deinit {
        server.stop(drainingFor: .zero)
        store.close()
        database.close()
    }

    func configuration() throws -> S3EngineConfiguration {
        S3EngineConfiguration(
            S3Bucket(
                endpoint: try StoreEndpoint("http://127.0.0.1:\(server.port)"), region: "us-east-1", name: "bucket"),
            prefix: "gateway/")
    }

    func client() throws -> S3Client {
        let credentials = SigningCredentials(accessKeyID: "tools", secret: Secret(Self.secret))
        return try configuration().controlClient(StaticCredentials(credentials), clock: SystemClock())
    }
}
