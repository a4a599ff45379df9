import Accounts
import Backup
import Basics
import Capability
import Catalog
import Crypto
import Database
import DeviceInit
import DirectoryEngine
import EventLoops
import GatewayAPI
import GatewayFormats
import ObjectStore
import Proto
import RPC
import Serve
import StoreProtocol
import ThreadCalls
import Uploads
import Webhooks
import Wire

/// The modules of a gateway on a data directory of their own, without listeners and with a clock that the caller moves.
///
/// Calls are subject to all the rules of a gateway: they pass its authenticator and its access table.
final class ShowcaseGateway: Sendable {
    static let adminPassword = "correct horse battery staple"

    let clock: ManualClock
    private let directory: DataDirectory
    private let database: Database
    private let store: ObjectStore
    private let policy: StoreAccessPolicy
    private let accounts: Accounts
    private let catalog: Catalog
    private let servers: [ListenerName: LocalCalls]
    private let loops: [EventLoop]

    /// - Parameter start: the time of the clock until the caller moves it.
    init(dataDirectory: String, start: UnixTime) async throws {
        let clock = ManualClock(start)
        self.clock = clock
        directory = try DataDirectory.forServing(dataDirectory)
        let keyring = try directory.openKeyring()
        database = try Database(path: directory.database, migrations: GatewayModules.migrations([]))
        try directory.require(keyring, of: database)
        try directory.markServed()
        let clockGuard = ClockGuard(clock: clock)
        let environment = ModuleEnvironment(
            database: database, keyring: keyring, clock: clock, clockGuard: clockGuard,
            identifiers: Identifiers(clock: clock))
        accounts = try Accounts(environment, keysDirectory: directory.keys, access: GatewayModules.access)
        try await accounts.createFirstAdmin(password: Secret(Self.adminPassword)) { _ in }
        store = try ObjectStore(
            engine: DirectoryEngine(path: directory.store), database: database, keyring: keyring, clock: clock)
        var configuration = UploadsConfiguration()
        configuration.callsPerMinute = 0
        policy = StoreAccessPolicy(
            store: store, clock: clock, steady: clockGuard.steady, configuration: configuration)
        let endpoint = try StoreEndpoint("http://127.0.0.1:50080")
        var initialization = DeviceInitConfiguration()
        (initialization.callsOfDeviceFromAddress, initialization.unknownIDsOfAddress) = (1_000_000, 1_000_000)
        let devices = DeviceInit(environment, accounts: accounts, configuration: initialization)
        let newRecordings = Signal()
        let uploads = try Uploads(
            environment, store: store, devices: devices.directory, endpoint: endpoint,
            changes: Uploads.Changes(newRecordings: newRecordings), configuration: configuration)
        catalog = Catalog(
            environment, store: store, devices: devices.directory, endpoint: endpoint,
            changes: Catalog.Changes(outbox: .closed, newRecordings: newRecordings),
            configuration: CatalogConfiguration())
        let capabilities: [any Capability] = [
            accounts, AccountManagement(accounts, devices: devices.directory, vocabulary: AuditVocabulary()), devices,
            uploads, catalog,
        ]
        let loops = (0..<2).map { EventLoop(name: "loop-\($0)") }
        self.loops = loops
        var servers: [ListenerName: LocalCalls] = [:]
        for listener in [ListenerName.auth, .deviceInit, .gateway, .admin] {
            var router = Router()
            for capability in capabilities { capability.register(for: listener, in: &router) }
            let server = RPCServer(router: router, interceptors: [accounts.authenticator], errors: .gateway)
            servers[listener] = LocalCalls(server: server, loops: loops)
        }
        self.servers = servers
    }

    /// Calls a method on the calling thread, which waits for the response.
    ///
    /// - Parameter token: the access token; `nil` = none.
    func call<Response: Message>(
        _ method: MethodDescriptor, _ request: some Message, on listener: ListenerName, token: String? = nil
    ) throws -> Response {
        guard let calls = servers[listener] else { preconditionFailure("no calls are registered for \(listener)") }
        let fields = token.map { [("authorization", "Bearer \($0)")] } ?? []
        return try calls.unary(
            method, request, for: LocalCalls.Caller(peer: "127.0.0.1", fields: fields, socket: -1))
    }

    /// Stores an object in one request with issued credentials.
    ///
    /// - Returns: its ETag.
    func put(_ bytes: [UInt8], with credentials: UploadCredentials) throws -> String {
        let (claims, _) = try store.issuer.verify(
            accessKeyID: credentials.stsAccessKeyID, token: credentials.stsSecurityToken)
        let put = try ObjectPut(
            store, permit: WritePermit(claims: claims, policy: policy, recordsActivity: true),
            length: Int64(bytes.count), checks: BodyChecks(), header: ObjectHeader())
        bytes.withUnsafeBytes(put.receive)
        return try put.finish().etag
    }

    /// Runs `body` while the times and topics of recordings are read, as a gateway does in the background.
    ///
    /// - Returns: its result, when all recordings have been read.
    func readingRecordings<T>(_ body: () throws -> T) async throws -> T {
        let reading = Task { [catalog] in
            for work in catalog.background where work.name == "recordings" { try await work.run() }
        }
        let result = try body()
        while try await database.read({ try $0.first("SELECT 1 FROM unread_recordings LIMIT 1") { _ in true } }) != nil
        {
            try await Task.sleep(for: .milliseconds(20))
        }
        reading.cancel()
        _ = await reading.result
        return result
    }

    /// Closes everything as a gateway does at its stop.
    func close() {
        for loop in loops { loop.stop() }
        accounts.deferred.flush(at: clock.now())
        store.close()
        database.close()
        directory.release()
    }
}
