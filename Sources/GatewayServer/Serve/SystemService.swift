import Accounts
import Backup
import Basics
import Capability
import Catalog
import Configuration
import Database
import EngineCopy
import GatewayFormats
import ObjectStore
import Proto
import RPC
import S3Engine
import Settings

/// The gRPC service SystemService: the state and the settings of the process.
struct SystemService: SystemServiceHandler {
    let database: Database
    let store: ObjectStore
    /// `nil` = the gateway has one engine.
    let engines: PairedEngines?
    let settings: [ConfigurationSetting]
    let startedAt: UnixTime
    let certificates: GatewayCertificates
    let backups: BackupMetrics
    /// `nil` if the bytes of objects are files.
    let bucket: BucketMetrics?

    func getSystemStatus(
        _ request: GetSystemStatusRequest, context: CallContext
    ) async throws -> GetSystemStatusResponse {
        let forecast = try await database.readInBackground { [disk] in try disk.forecast(in: $0) }
        return GetSystemStatusResponse(
            version: ProgramVersion.current, startedAt: Timestamp(startedAt), storeFreeBytes: store.freeBytes ?? -1,
            storeMinimumFreeBytes: store.minimumFreeBytes, certificateEndsAt: certificates.expiry.map { Timestamp($0) },
            backupSchedules: backups.snapshot.map(BackupScheduleStatus.init),
            lastManualBackupAt: backups.lastManual.map { Timestamp($0) },
            objectEngine: bucket.map { ObjectEngineStatus($0.health) },
            replicas: try await database.users().map { user in
                GatewayReplica(
                    description: user.description, version: user.version, isThis: user.id == database.userID,
                    secondsSinceRenewal: user.age.wholeSeconds, leases: user.leases)
            }, storeSizeBytes: store.sizeBytes ?? -1, diskForecast: DiskForecast(forecast))
    }

    private var disk: StoreDisk { StoreDisk(database: database, store: store) }

    func listSettings(_ request: ListSettingsRequest, context: CallContext) async throws -> ListSettingsResponse {
        ListSettingsResponse(
            settings: settings.map { setting in
                SystemSetting(key: setting.key, value: setting.value, source: "\(setting.source)")
            })
    }
}

/// The copy of objects from one engine to the other.
extension SystemService {
    func startEngineCopy(
        _ request: StartEngineCopyRequest, context: CallContext
    ) async throws -> EngineCopyProgress {
        guard let target = ObjectEngineKind(rawValue: request.target) else {
            let words = ObjectEngineKind.allCases.map(\.rawValue).joined(separator: " or ")
            throw RPCError.invalidArgument("target must be \(words)")
        }
        let (engines, copy) = try engineCopy()
        guard engines.target == target else {
            throw RPCError.failedPrecondition(
                "target must be the gateway's objects.engine, which is \(engines.target.rawValue)")
        }
        try await copy.begin(try record(of: engines, context))
        return try progress(engines, copy)
    }

    func getEngineCopy(
        _ request: GetEngineCopyRequest, context: CallContext
    ) async throws -> EngineCopyProgress {
        let (engines, copy) = try engineCopy()
        return try progress(engines, copy)
    }

    func stopEngineCopy(
        _ request: StopEngineCopyRequest, context: CallContext
    ) async throws -> EngineCopyProgress {
        let (engines, copy) = try engineCopy()
        try await copy.stop(try record(of: engines, context))
        return try progress(engines, copy)
    }

    /// Returns what writes the line of a call to the audit log.
    private func record(
        of engines: PairedEngines, _ context: CallContext
    ) throws -> @Sendable (Connection) throws -> Void {
        let (entry, now) = (try Caller(context).did(to: "engines/\(engines.target.rawValue)"), store.clock.now())
        return { try Audit.record(entry, at: now, in: $0) }
    }

    private func engineCopy() throws -> (PairedEngines, EngineCopy) {
        guard let engines, let copy = engines.copy else {
            throw RPCError.failedPrecondition(
                "the gateway has one engine: set objects.previous_engine to the one that has the objects, and restart it"
            )
        }
        return (engines, copy)
    }

    private func progress(_ engines: PairedEngines, _ copy: EngineCopy) throws -> EngineCopyProgress {
        let progress = try copy.currentProgress()
        let (state, reason) = progress.phase.described
        return EngineCopyProgress(
            target: engines.target.rawValue, state: state, reason: reason,
            startedAt: try copy.record().map { Timestamp($0.begunAt) }, copiedObjects: Int64(progress.copiedObjects),
            copiedBytes: progress.copiedBytes, remainingObjects: Int64(progress.remainingObjects),
            remainingBytes: progress.remainingBytes, remainingUploads: Int64(progress.remainingUploads),
            failures: progress.failures.map {
                EngineCopyFailure(bucket: $0.place.bucket, key: $0.place.key, reason: $0.reason)
            })
    }
}

extension EngineCopy.Phase {
    fileprivate var described: (EngineCopyState, String) {
        switch self {
        case .idle: (.idle, "")
        case .running: (.running, "")
        case .waitingForUploads: (.waitingForUploads, "")
        case .interrupted(let reason): (.interrupted, reason)
        case .failed: (.failed, "")
        case .complete: (.complete, "")
        }
    }
}

extension SystemService: Capability {
    static var auditSentences: [AuditSentence] {
        [
            AuditSentence(.gateway, "StartEngineCopy", "began to copy all objects to another object engine: {target}"),
            AuditSentence(.gateway, "StopEngineCopy", "stopped the copy of all objects to another object engine"),
        ]
    }

    static var access: AccessTable {
        AccessTable([
            (
                .systemAdmin,
                [
                    SystemServiceMethods.getSystemStatus, SystemServiceMethods.listSettings,
                    SystemServiceMethods.startEngineCopy, SystemServiceMethods.getEngineCopy,
                    SystemServiceMethods.stopEngineCopy,
                ]
            )
        ])
    }

    var metrics: [any MetricSource] { [disk] }

    func register(for listener: ListenerName, in router: inout Router) {
        if listener == .admin || listener == .web { register(in: &router) }
    }
}

extension ObjectEngineStatus {
    fileprivate init(_ health: BucketHealth) {
        self.init(
            kind: "s3", bucket: health.bucket, prefix: health.prefix, ownership: health.ownership.word,
            lastFailure: health.lastFailure?.reason ?? "",
            lastFailureAt: health.lastFailure.map { Timestamp($0.at) }, spoolBytes: health.spoolBytes,
            spoolLimitBytes: health.spoolLimit, divergence: health.divergence.map(\.description) ?? "")
    }
}

extension BackupScheduleStatus {
    fileprivate init(_ counts: BackupMetrics.Counts) {
        self.init(
            name: counts.schedule, intervalSeconds: counts.interval.wholeSeconds,
            lastSuccessAt: counts.lastSuccess.map { Timestamp($0) },
            lastDurationSeconds: counts.lastDuration.wholeSeconds, lastSizeBytes: counts.lastSize,
            lostObjects: Int64(counts.lostObjects), failures: Int64(counts.failures), isRunning: counts.isRunning)
    }
}
