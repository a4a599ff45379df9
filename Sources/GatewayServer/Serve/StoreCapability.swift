import Basics
import Capability
import Configuration
import Database
import GatewayAPI
import HTTPServer
import HTTPTypes
import ObjectStore
import Observability
import Settings
import Sockets
import StoreProtocol
import StoreServer
import Uploads

/// The object store as a capability: it has no calls, but tables, sweeps, metrics, background work and a server of its own.
struct StoreCapability: Capability {
    let objects: ObjectStore
    let policy: StoreAccessPolicy
    private let requests = StoreRequestMetrics()
    /// The time without a part after which a multipart upload of a static key is abandoned.
    private let directUploadIdle: Duration
    private let log: Logger

    init(_ objects: ObjectStore, _ environment: ModuleEnvironment, _ uploads: UploadsConfiguration) {
        self.objects = objects
        policy = StoreAccessPolicy(
            store: objects, clock: environment.clock, steady: environment.clockGuard.steady, configuration: uploads)
        directUploadIdle = uploads.sessionTotal
        log = environment.log
    }

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
        ]
    }

    var metrics: [any MetricSource] { [requests] }

    var background: [BackgroundWork] {
        [
            BackgroundWork("reconciliation", interrupt: { objects.stopBackgroundWork() }) {
                await ReconciliationReport(store: objects, log: log).run()
            }
        ]
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
    var server: StoreServerConfiguration

    init(_ settings: SettingsReader, _ context: SettingsContext) {
        objects = ObjectStoreConfiguration(settings)
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
