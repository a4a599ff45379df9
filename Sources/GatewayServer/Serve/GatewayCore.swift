import Accounts
import Backup
import Basics
import Capability
import Configuration
import CopyJobs
import Crypto
import Database
import FoundationEssentials
import GatewayAPI
import HTTPServer
import Identity
import ObjectStore
import Observability
import RPC
import StoreProtocol
import StoreServer
import Uploads
import Webhooks

/// The parts of a gateway that its other capabilities are made of: one database, one object store, the accounts and the outbox.
struct GatewayCore: Sendable {
    let environment: ModuleEnvironment
    let clock: ClockKeeper
    let accounts: Accounts
    let identity: Identity
    let events: Webhooks
    let store: StoreCapability
    /// The object store's server. It listens before the uploads are made, which need its address.
    let storeServer: ObjectStoreServer
    /// The public address of the store.
    let endpoint: StoreEndpoint
    /// `nil` if the database is a file.
    let serverDatabase: ServerDatabase?

    var database: Database { environment.database }
    var log: Logger { environment.log }

    /// Opens the store, and listens for its clients.
    ///
    /// - Parameter opened: receives everything that was opened, even if this throws.
    init(
        _ configuration: Configuration, _ data: GatewayDatabase, _ engine: StoreEngine, process: ProcessLog,
        certificates: GatewayCertificates, opened: Closings
    ) throws {
        let directory = data.directory
        let log = Logger(process)
        let uploads = configuration[UploadsConfiguration.self]
        let (database, keyring) = (data.database, data.keyring)
        serverDatabase = data.server
        let systemClock = SystemClock()
        clock = try ClockKeeper(
            database: database, clock: systemClock, confirmation: configuration[ClockConfiguration.self].confirmation,
            log: log, isInTime: { data.server?.permitsDeletions ?? true })
        var environment = ModuleEnvironment(
            database: database, keyring: keyring, clock: systemClock, clockGuard: clock.clockGuard,
            identifiers: Identifiers(clock: systemClock), log: log)
        environment.hasReplicas = configuration.hasReplicas
        self.environment = environment
        accounts = try Accounts(
            environment, keysDirectory: directory.keys,
            access: GatewayModules.access.adding(configuration.apps.access),
            configuration: configuration[AccountsConfiguration.self])
        identity = Identity(environment, accounts: accounts, configuration: configuration[IdentityConfiguration.self])
        events = Webhooks(environment, configuration: configuration[WebhooksConfiguration.self])
        let store = configuration[StoreConfiguration.self]
        try engine.requireBytes(of: database)
        if serverDatabase != nil { try engine.requireOwnStore(directory, of: database) }
        let objects = try ObjectStore(
            engine: engine.engine, database: database, keyring: keyring, clock: systemClock,
            permit: environment.clockGuard.permit(), configuration: store.objects)
        opened.add { [accounts] in
            accounts.deferred.flush(at: systemClock.now())
            objects.close()
        }
        try Self.reportUnknownOrganizations(of: uploads.staticKeys, database, log)
        self.store = StoreCapability(objects, engine, environment, uploads, records: accounts.deferred)
        storeServer = try self.store.serve(configuration, certificates: certificates[.objectStore], process)
        opened.add { [storeServer] in storeServer.stop(drainingFor: .zero) }
        endpoint = try configuration.endpoint(boundTo: storeServer.address)
    }

    /// Creates the first administrator if there are no organizations. The password comes from the environment, or is a random one in
    /// the data directory.
    func createFirstAdmin(_ directory: DataDirectory) async throws {
        let given = ProcessInfo.processInfo.environment["DATA_GATEWAY_ADMIN_PASSWORD"]
        try await accounts.createFirstAdmin(password: given.map { Secret($0) }) { password in
            try directory.writeInitialPassword(password)
            log.write(
                "the first administrator was created",
                ["organization": "system", "user": "admin", "password_file": directory.initialPassword])
        }
    }
}

/// The organizations that the configuration names.
extension GatewayCore {
    /// Records the organizations in the configuration, and warns of settings that may not work as intended.
    func checkOrganizations(of configuration: Configuration) async throws {
        let destinations = configuration[CopyJobsConfiguration.self].destinations
        let named =
            configuration[WebhooksConfiguration.self].webhooks.compactMap(\.configuredOrganization)
            + destinations.flatMap { $0.organizations ?? [] }
            + configuration[IdentityConfiguration.self].providers.compactMap(\.configuredOrganization)
        let reused = try await database.write(mayUseReserve: true) { try ConfiguredOrganization.record(named, in: $0) }
        for named in reused {
            log.write(
                "the configuration names a deleted organization, and another organization has its name now",
                [
                    "setting": named.setting, "organization": named.name,
                    "consequence": "the setting does not apply to the new organization",
                    "hint": "to apply it, remove the setting, restart, and add it again",
                ], level: .warning)
        }
        guard try await database.read({ try Accounts.hasSeveralOrganizations(in: $0) }) else { return }
        for destination in destinations where destination.organizations == nil {
            log.write(
                "several organizations share a copy destination",
                [
                    "destination": destination.name,
                    "consequence": "each organization may only copy below a folder of its name",
                    "hint": "set organizations of the destination in copy.destinations",
                ], level: .warning)
        }
    }

    /// A misspelled organization would leave the lines of the audit log without one.
    static func reportUnknownOrganizations(
        of keys: [StaticKey], _ database: Database, _ log: Logger
    ) throws {
        for key in keys {
            guard let name = key.organization,
                try database.readBlocking({ try Accounts.organization(named: name, in: $0) }) == nil
            else { continue }
            log.write(
                "the organization of a static key does not exist: create it, or correct object_store.static_keys",
                ["id": key.id, "organization": name], level: .warning)
        }
    }
}

/// The gateway's state as a process, which its services change and the operations on it read.
struct ProcessState: Sendable {
    let log: ProcessLog
    let serving = ServingState()
    /// Notified when the process has to end and start again.
    let restart = Signal()

    init(_ log: ProcessLog) {
        self.log = log
    }
}
