package import Basics
package import Capability
package import Database
package import ObjectStore
package import RPC

/// The metrics of the gateway as a whole.
package struct GatewayMetrics: MetricSource {
    private let log: ProcessLog
    private let state: ServingState
    private let database: Database
    private let store: ObjectStore
    /// The expiry of the listeners' certificate; `nil` without a certificate, or if it does not expire.
    private let certificateExpiry: @Sendable () -> UnixTime?

    /// The name and the address of each listener, and whether it uses TLS.
    package typealias Listener = (name: String, address: String, isSecure: Bool)

    private let listeners: [Listener]

    package init(
        log: ProcessLog, state: ServingState, database: Database, store: ObjectStore,
        listeners: [Listener] = [], certificateExpiry: @escaping @Sendable () -> UnixTime?
    ) {
        self.listeners = listeners
        self.log = log
        self.state = state
        self.database = database
        self.store = store
        self.certificateExpiry = certificateExpiry
    }

    private var blockedSeconds: [(MetricLabels, Int)] {
        let blockage = database.logBlockage
        return [("gateway", LogHolder.gateway), ("other", .other)].map { name, holder in
            let isHolder = blockage?.holder == holder
            return ([("reader", name)], isHolder ? Int(blockage?.duration.wholeSeconds ?? 0) : 0)
        }
    }

    package var families: [MetricFamily] {
        [
            .gauge(
                "data_gateway_build_info", "Always 1; the label has the version.",
                [([("version", ProgramVersion.current)], 1)]),
            .gauge(
                "data_gateway_listener_info", "Always 1; the labels have the listener's name and address.",
                listeners.map {
                    ([("listener", $0.name), ("address", $0.address), ("tls", $0.isSecure ? "1" : "0")], 1)
                }),
            .gauge("data_gateway_serving", "1 if the gateway accepts calls, else 0.", [([], state.isServing ? 1 : 0)]),
            .gauge(
                "data_gateway_store_free_bytes", "Free bytes on the file system of the objects.",
                store.freeBytes.map { [([], Int($0))] } ?? []),
            .gauge(
                "data_gateway_store_min_free_bytes", "Free bytes below which new uploads are refused.",
                [([], Int(store.minimumFreeBytes))]),
            .gauge(
                "data_gateway_store_folders_to_reconcile",
                "Data folders (of 256) that are not yet compared with the database after an unclean shutdown.",
                [([], store.foldersToReconcile)]),
            .gauge(
                "data_gateway_store_removals_waiting",
                "Data files whose objects are gone and that are to be removed; 100000 = at least as many.",
                store.waitingRemovals.map { [([], $0)] } ?? []),
            .gauge(
                "data_gateway_disk_reserve_released",
                "1 if the disk is full and only calls that free space are accepted, else 0.",
                [([], database.isReserveReleased ? 1 : 0)]),
            .gauge(
                "data_gateway_database_wal_bytes", "Size in bytes of the database's write-ahead log (WAL).",
                database.logBytes.map { [([], $0)] } ?? []),
            .gauge(
                "data_gateway_database_wal_blocked_seconds",
                "Seconds for which a reader, of the gateway or of another program, has kept the log from shrinking.",
                blockedSeconds),
            .gauge(
                "data_gateway_tls_certificate_expiry_seconds", "Unix time in seconds when the certificate expires.",
                certificateExpiry().map { [([], Int($0.seconds))] } ?? []),
            .counter(
                "data_gateway_log_lines_dropped_total",
                "Log lines that were dropped because standard error was too slow.",
                [([], log.dropped)]),
        ]
    }
}

/// Metrics in Prometheus' text format (version 0.0.4).
package enum PrometheusText {
    package static let mediaType = "text/plain; version=0.0.4"

    package static func render(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families where !family.samples.isEmpty {
            text += "# HELP \(family.name) \(family.help)\n# TYPE \(family.name) \(family.kind.rawValue)\n"
            for sample in family.samples {
                text += "\(family.name)\(sample.suffix)\(Self.text(sample.labels)) \(sample.value)\n"
            }
        }
        return text
    }

    private static func text(_ labels: MetricLabels) -> String {
        if labels.isEmpty { return "" }
        return "{" + labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",") + "}"
    }

    private static func escaped(_ value: String) -> String {
        value.replacing(bytes: ["\\": "\\\\", "\"": "\\\"", "\n": "\\n"])
    }
}
