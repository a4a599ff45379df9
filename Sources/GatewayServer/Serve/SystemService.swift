import Accounts
import Backup
import Basics
import Capability
import Configuration
import Database
import ObjectStore
import Proto
import RPC
import Settings

/// The gRPC service SystemService: the state and the settings of the process.
struct SystemService: SystemServiceHandler {
    let store: ObjectStore
    let settings: [ConfigurationSetting]
    let startedAt: UnixTime
    let certificates: GatewayCertificates
    let backups: BackupMetrics

    func getSystemStatus(
        _ request: GetSystemStatusRequest, context: CallContext
    ) async throws -> GetSystemStatusResponse {
        GetSystemStatusResponse(
            version: ProgramVersion.current, startedAt: Timestamp(startedAt), storeFreeBytes: store.freeBytes ?? -1,
            storeMinimumFreeBytes: store.minimumFreeBytes, certificateEndsAt: certificates.expiry.map { Timestamp($0) },
            backupSchedules: backups.snapshot.map(BackupScheduleStatus.init),
            lastManualBackupAt: backups.lastManual.map { Timestamp($0) })
    }

    func listSettings(_ request: ListSettingsRequest, context: CallContext) async throws -> ListSettingsResponse {
        ListSettingsResponse(
            settings: settings.map { setting in
                SystemSetting(key: setting.key, value: setting.value, source: "\(setting.source)")
            })
    }
}

extension SystemService: Capability {
    static var access: AccessTable {
        AccessTable([(.systemAdmin, [SystemServiceMethods.getSystemStatus, SystemServiceMethods.listSettings])])
    }

    func register(for listener: ListenerName, in router: inout Router) {
        if listener == .admin || listener == .web { register(in: &router) }
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
