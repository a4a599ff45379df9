import Basics
import Database
import ObjectStore
import RPC

/// What the gateway as a whole is and has.
package struct GatewayMetrics: MetricSource {
    private let log: ProcessLog
    private let state: ServingState
    private let database: Database
    private let store: ObjectStore
    /// When the certificate ends that the listeners show; `nil` = there is none, or it does not say so.
    private let certificateExpiry: @Sendable () -> UnixTime?

    package init(
        log: ProcessLog, state: ServingState, database: Database, store: ObjectStore,
        certificateExpiry: @escaping @Sendable () -> UnixTime?
    ) {
        self.log = log
        self.state = state
        self.database = database
        self.store = store
        self.certificateExpiry = certificateExpiry
    }

    package var families: [MetricFamily] {
        [
            .gauge("data_gateway_build_info", "1, with the version.", [([("version", ProgramVersion.current)], 1)]),
            .gauge("data_gateway_serving", "Whether it takes calls: 1 or 0.", [([], state.isServing ? 1 : 0)]),
            .gauge(
                "data_gateway_store_free_bytes", "Bytes that are free where the objects are.",
                store.freeBytes.map { [([], Int($0))] } ?? []),
            .gauge(
                "data_gateway_store_min_free_bytes", "Below so many, no new upload is taken.",
                [([], Int(store.minimumFreeBytes))]),
            .gauge(
                "data_gateway_store_folders_to_reconcile",
                "Data folders, of 256, that are still to be compared with the database after an unclean end.",
                [([], store.foldersToReconcile)]),
            .gauge(
                "data_gateway_disk_reserve_released",
                "Whether the disk was full and only calls that make space are taken: 1 or 0.",
                [([], database.isReserveReleased ? 1 : 0)]),
            .gauge(
                "data_gateway_tls_certificate_expiry_seconds", "When the certificate ends, in Unix time.",
                certificateExpiry().map { [([], Int($0.seconds))] } ?? []),
            .counter(
                "data_gateway_log_lines_dropped_total", "Lines that standard error did not take fast enough.",
                [([], log.dropped)]),
        ]
    }
}
