import Basics
package import Capability
package import Database
import Proto
package import RPC

extension Uploads: Capability {
    package static var migrations: [Migration] { UploadSchema.migrations }

    package static var settings: (any CapabilitySettings.Type)? { UploadsConfiguration.self }

    package static var access: AccessTable {
        AccessTable([
            (
                .apiKey,
                [
                    DataGatewayServiceMethods.createLogicalUpload, DataGatewayServiceMethods.getUploadRecovery,
                    DataGatewayServiceMethods.reissueUploadCredentials, DataGatewayServiceMethods.abortUpload,
                    DataGatewayServiceMethods.completeUpload, DataGatewayServiceMethods.findStoredFiles,
                ]
            ),
            (
                .user(.viewer),
                [UploadManagementServiceMethods.listUploads, UploadManagementServiceMethods.listFailedUploads]
            ),
            (
                .user(.operator),
                [
                    UploadManagementServiceMethods.cancelUpload, UploadManagementServiceMethods.createSiteUpload,
                    UploadManagementServiceMethods.getSiteUpload,
                    UploadManagementServiceMethods.issueSiteUploadCredentials,
                    UploadManagementServiceMethods.completeSiteUpload,
                ]
            ),
        ])
    }

    package func register(for listener: ListenerName, in router: inout Router) {
        switch listener {
        case .gateway: service.register(in: &router)
        case .admin, .web: management.register(in: &router)
        default: break
        }
    }

    package var sweeps: [Sweep] {
        [
            Sweep("uploads", removesObjects: true, run: sweep),
            Sweep("upload_records", removesObjects: true, run: retention.run),
            .removingNothing("storage_warnings") { _ in try await warnings.run() },
            .always("usage", removesObjects: true) { _ in try await sweepUsage() },
        ]
    }

    /// Removes the data of uploads whose session has ended.
    ///
    /// - Returns: the number of swept uploads.
    func sweep(_ permit: DeletionPermit) async throws -> Int {
        try await sweeping.run(permit)
    }

    /// Removes counts of stored bytes, objects and uploads that are 0.
    ///
    /// - Returns: the number of removed counts.
    func sweepUsage() async throws -> Int {
        try await database.write(mayUseReserve: true) { try UsageRecords($0).forgetEmpty(limit: 500) }
    }
}
