import Basics
package import Capability
package import Database
import Proto
package import RPC

extension CopyJobs: Capability {
    package static var migrations: [Migration] { CopySchema.migrations }

    package static var settings: (any CapabilitySettings.Type)? { CopyJobsConfiguration.self }

    package static var access: AccessTable {
        AccessTable([
            (
                .user(.viewer),
                [DataGatewayCopyServiceMethods.getCopyJob, DataGatewayCopyServiceMethods.listCopyJobItems]
            ),
            (.user(.viewer), [CopyManagementServiceMethods.listCopyJobs]),
            (.user(.operator), [CopyManagementServiceMethods.listCopyDestinations]),
            (
                .user(.operator),
                [DataGatewayCopyServiceMethods.createCopyJob, DataGatewayCopyServiceMethods.cancelCopyJob]
            ),
        ])
    }

    package func register(for listener: ListenerName, in router: inout Router) {
        guard listener == .gateway || listener == .web else { return }
        service.register(in: &router)
        management.register(in: &router)
    }

    package var sweeps: [Sweep] { [Sweep("copy_jobs", run: sweep)] }

    package var metrics: [any MetricSource] { [workers.metrics] }

    /// Executes jobs, including those of an earlier process. The next start continues copies in progress.
    package var background: [BackgroundWork] { [BackgroundWork("copy jobs") { await workers.run() }] }

    /// Deletes jobs that finished long ago.
    func sweep(_ permit: DeletionPermit) async throws -> Int {
        let limit = 100
        let retention = workers.configuration.retention
        var forgotten = 0
        var count = limit
        while count == limit, !Task.isCancelled {
            count = try await database.write(mayUseReserve: true) {
                try CopyRecords($0).forget(finishedFor: retention, permit, limit: limit)
            }
            forgotten += count
        }
        return forgotten
    }
}
