import Accounts
import Basics
import Capability
import Configuration
import Database
import DirectoryEngine
import EngineCopy
import GatewayAPI
import HTTPServer
import HTTPTypes
import ObjectStore
import Observability
import S3Engine
import Settings
import Sockets
import StoreProtocol
import StoreServer
import Uploads

/// The object store as a capability: it has no calls, but tables, sweeps, metrics, background work and a server of its own.
struct StoreCapability: Capability {
    let objects: ObjectStore
    let engine: StoreEngine
    let policy: StoreAccessPolicy
    private let requests = StoreRequestMetrics()
    /// The time without a part after which a multipart upload of a static key is abandoned.
    private let directUploadIdle: Duration
    private let log: Logger

    init(
        _ objects: ObjectStore, _ engine: StoreEngine, _ environment: ModuleEnvironment,
        _ uploads: UploadsConfiguration, records: DeferredRecords
    ) {
        self.objects = objects
        self.engine = engine
        policy = StoreAccessPolicy(
            store: objects, clock: environment.clock, steady: environment.clockGuard.steady, configuration: uploads,
            records: records)
        directUploadIdle = uploads.sessionTotal
        log = environment.log
    }

    /// Both engines, while objects are copied from one to the other.
    var pairedEngines: PairedEngines? { engine.paired }

    static var migrations: [Migration] { ObjectStore.migrations }

    static var settings: (any CapabilitySettings.Type)? { StoreConfiguration.self }

    var sweeps: [Sweep] {
        [
            Sweep("static_key_objects", removesObjects: true) { try await objects.sweepDirectObjects(policy, $0) },
            Sweep("multiparts", removesObjects: true) {
                try await objects.sweepDirectMultiparts(idleFor: directUploadIdle, $0)
            },
            .always("usage", removesObjects: true) { _ in try await objects.sweepUsage() },
            .always("multipart_rows", removesObjects: true) { _ in try await objects.sweepDiscards() },
            .always("files", removesObjects: true) { _ in try await objects.sweepRemovals() },
            Sweep("bucket_keys", removesObjects: true) { objects.sweepFiles($0) },
        ]
    }

    var metrics: [any MetricSource] { [requests] + [engine.bucketMetrics].compactMap(\.self) }

    var background: [BackgroundWork] {
        [
            BackgroundWork("reconciliation", interrupt: { objects.stopBackgroundWork() }) {
                await ReconciliationReport(store: objects, log: log).run()
            }
        ] + engine.background
    }

    /// Listens for the store's clients.
    func serve(
        _ configuration: Configuration, certificates: TLSCertificates?, _ processLog: ProcessLog
    ) throws -> ObjectStoreServer {
        var surface = configuration[StoreConfiguration.self].server
        // If the endpoint is a name, clients put the bucket in front of it.
        let host = configuration.address(.objectStore).host
        surface.bucketDomains = [configuration.publicEndpoint?.host ?? host.lowercased()]
        surface.publicAuthority = configuration.publicEndpoint?.authority
        surface.daemon.observers = [
            HTTPAccessLog(listener: ListenerName.objectStore.rawValue, log: processLog), requests,
        ]
        surface.daemon.certificates = certificates
        return try ObjectStoreServer(
            address: configuration.listeners[.objectStore], store: objects, policy: policy, configuration: surface,
            log: log)
    }
}

/// The settings of the store's disk and memory, and those of its clients.
struct StoreConfiguration: CapabilitySettings {
    var objects: ObjectStoreConfiguration
    let engine: ObjectEngineSettings
    let files: DirectoryConfiguration
    var server: StoreServerConfiguration
    /// Whether the prefix of the bucket is taken over from a gateway that does not renew it.
    var takesOver = false

    init(_ settings: SettingsReader, _ context: SettingsContext) {
        objects = ObjectStoreConfiguration(settings)
        engine = ObjectEngineSettings(settings)
        files = DirectoryConfiguration(settings)
        server = StoreServerConfiguration(settings)
    }

    /// Sets what uploads ask of the store: its buckets, its static keys, and the time for which it keeps files of unknown uploads.
    mutating func serve(_ uploads: UploadsConfiguration) {
        objects.buckets = uploads.buckets
        objects.staticKeys = uploads.staticKeys
        // So that the files of a session begun under this configuration are not removed early.
        objects.orphanAge = max(objects.orphanAge, uploads.sessionTotal + uploads.wholeObjectGrace)
    }
}

extension Configuration {
    /// Returns the public address of the store.
    ///
    /// - Parameter bound: the address of its listener; `nil` = it has none.
    func endpoint(boundTo bound: PeerAddress?) throws -> StoreEndpoint {
        if let publicEndpoint { return publicEndpoint }
        // Without a listener nobody is given the address: uploads require one.
        guard let bound else { return try StoreEndpoint("http://object-store.invalid") }
        let scheme = isSecure(.objectStore) ? "https" : "http"
        return try StoreEndpoint("\(scheme)://\(address(.objectStore).host):\(bound.port)")
    }
}

/// Logs the progress and the results of comparing the store with the database after an unclean shutdown.
struct ReconciliationReport: Sendable {
    private static let interval = Duration.seconds(10)

    let store: ObjectStore
    let log: Logger

    /// Returns when the comparison has finished or was stopped.
    func run() async {
        guard !store.isForeign else {
            return log.write(
                "the database and the store were not last used together",
                [
                    "consequence": "nothing is deleted; one of them may have been restored from an older backup",
                    "hint": "stop the gateway and run data-gateway doctor",
                ], level: .warning)
        }
        guard store.isReconciled else { return }
        log.write(
            "comparing the store with the database",
            ["why": "this is the first start, or the last shutdown was unclean"])
        let progress = Task {
            while (try? await Task.sleep(for: Self.interval)) != nil {
                log.write(
                    "comparing the store with the database", ["folders_left": "\(store.foldersToReconcile) of 256"])
            }
        }
        await store.finishReconciliation()
        progress.cancel()
        reportFindings()
    }

    private func reportFindings() {
        let found = store.reconciliation
        for failure in found.failures {
            log.write("a part of the store could not be examined", ["error": failure], level: .error)
        }
        if found.failureCount > found.failures.count {
            let count = found.failureCount - found.failures.count
            log.write("more parts of the store could not be examined", ["count": "\(count)"], level: .error)
        }
        guard found.removed + found.quarantined + found.lost > 0 else { return }
        log.write(
            "the store was reconciled with the database",
            ["removed": "\(found.removed)", "quarantined": "\(found.quarantined)", "lost": "\(found.lost)"])
    }
}
