import Accounts
package import AppSupport
package import Basics
import Capability
import Catalog
package import Configuration
import Console
import Identity
import ObjectStore
import RPC
package import Settings
import Uploads
import Webhooks

/// The configuration of a gateway with its capabilities and apps.
extension Configuration {
    /// - Parameters:
    ///   - apps: all apps of the program.
    ///   - variables: the environment.
    ///   - log: receives the warnings.
    /// - Throws: the first fault.
    package init(
        _ options: ServeOptions, apps: [any App.Type], variables: [String: String] = [:],
        log warnings: Logger = .discarding
    ) throws(ConfigurationError) {
        let reader = try SettingsReader(options, variables: variables, log: warnings)
        self.init(reader, apps: apps)
        if let fault = reader.faults.first { throw fault }
        self[StoreConfiguration.self].takesOver = options.takesOver
    }

    /// Reads all sections. With a fault among those of the reader, the values are of no use.
    package init(_ settings: SettingsReader, apps: [any App.Type]) {
        let types = EventType.gateway + apps.flatMap { $0.eventTypes }
        self.init(settings, GatewayModules.settings, eventTypes: types.map(\.rawValue))
        self.apps = AppsConfiguration(settings, known: apps, self)
        self[DatabaseConfiguration.self] = DatabaseConfiguration(settings)
        self[ReplicasConfiguration.self] = ReplicasConfiguration(settings)
        ReplicasConfiguration.check(self, settings)
        finish(settings)
        connect()
    }

    var apps: AppsConfiguration {
        get { self[AppsConfiguration.self] }
        set { self[AppsConfiguration.self] = newValue }
    }

    package var database: DatabaseConfiguration { self[DatabaseConfiguration.self] }

    /// Whether other gateways use the database and the bucket, too.
    package var hasReplicas: Bool { self[ReplicasConfiguration.self].isEnabled }

    /// Sets what a capability takes from the settings of another one.
    private mutating func connect() {
        let uploads = self[UploadsConfiguration.self]
        self[CatalogConfiguration.self].deletedRetention = uploads.recordRetention
        self[ConsoleConfiguration.self].publicURL = self[IdentityConfiguration.self].publicURL
        self[AccountsConfiguration.self].consoleURL = self[IdentityConfiguration.self].publicURL
        self[StoreConfiguration.self].serve(uploads)
        self[StoreConfiguration.self].objects.hasReplicas = hasReplicas
    }

    /// Returns the limits of one listener. They are higher for the internal one, whose clients are trusted programs that read large
    /// responses in parallel.
    func rpcLimits(of name: ListenerName) -> RPCLimits {
        var limits = rpc
        if name == .internalStorage {
            limits.maxResponseBytes = max(
                limits.maxResponseBytes, 16 * Int(self[InternalStorageConfiguration.self].maximumReadBytes))
            limits.maxResponseBytesPerAddress = limits.maxResponseBytes
        }
        return limits
    }
}
