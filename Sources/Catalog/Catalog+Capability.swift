import Basics
package import Capability
package import Database
import ObjectStore
import Proto
package import RPC

extension Catalog: Capability {
    package static var migrations: [Migration] { ObjectSchema.migrations }

    package static var settings: (any CapabilitySettings.Type)? { CatalogConfiguration.self }

    package static var access: AccessTable {
        AccessTable([
            (
                .user(.viewer),
                [DataGatewayObjectServiceMethods.listObjects, DataGatewayObjectServiceMethods.requestDownload]
            ),
            (.user(.viewer), [ObjectArchiveServiceMethods.zipObjects]),
            (
                .user(.admin),
                [
                    ObjectManagementServiceMethods.deleteObject, ObjectManagementServiceMethods.restoreObject,
                    ObjectManagementServiceMethods.purgeObject, ObjectManagementServiceMethods.setTrashSettings,
                    ObjectManagementServiceMethods.getTrashSettings, ObjectManagementServiceMethods.deleteObjects,
                    ObjectManagementServiceMethods.restoreObjects, ObjectManagementServiceMethods.purgeObjects,
                    ObjectManagementServiceMethods.undoObjectOperation,
                    ObjectManagementServiceMethods.getObjectOperation,
                    ObjectManagementServiceMethods.listObjectOperations,
                    ObjectManagementServiceMethods.cancelObjectOperation, ObjectManagementServiceMethods.setRetention,
                    ObjectManagementServiceMethods.getRetention, ObjectManagementServiceMethods.listBadObjects,
                    ObjectManagementServiceMethods.saveSearch, ObjectManagementServiceMethods.deleteSavedSearch,
                ]
            ),
            (.user(.operator), [ObjectManagementServiceMethods.updateObject]),
            (
                .user(.viewer),
                [
                    ObjectManagementServiceMethods.getObject, ObjectManagementServiceMethods.getObjectFacets,
                    ObjectManagementServiceMethods.getStatistics, ObjectManagementServiceMethods.getStorageUse,
                    ObjectManagementServiceMethods.listSavedSearches,
                ]
            ),
        ])
    }

    package func register(for listener: ListenerName, in router: inout Router) {
        if listener == .gateway || listener == .web {
            service.register(in: &router)
            archives.register(in: &router)
        }
        if listener == .admin || listener == .web { management.register(in: &router) }
    }

    package var sweeps: [Sweep] {
        [
            Sweep("objects", removesObjects: true, run: removal.applyRetention),
            Sweep("trash", removesObjects: true, run: removal.sweepTrash),
            Sweep("object_operations", removesObjects: true, run: sweepOperations),
            Sweep("deleted_objects", removesObjects: true) {
                try await removal.forgetDeleted(olderThan: configuration.deletedRetention, $0)
            },
        ]
    }

    package var metrics: [any MetricSource] { [scrubber.metrics, searchUpgrade.progress, facetBytesUpgrade.progress] }

    package var background: [BackgroundWork] {
        [
            BackgroundWork("scrubbing", under: database.leases) {
                await store.finishReconciliation()
                // With a database of another generation an object's row may be wrong and its bytes right.
                if !store.isForeign { await scrubber.run() }
            },
            BackgroundWork("search upgrade", under: database.leases) {
                await searchUpgrade.run()
                await facetBytesUpgrade.run()
            },
            BackgroundWork("index of names", under: database.leases) { await nameIndexer.run() },
            BackgroundWork("recordings", under: database.leases) { await recordings.run() },
            BackgroundWork("operations on objects", under: database.leases) {
                await store.finishReconciliation()
                // If the database is older than the store, a removed file might be the only copy.
                if !store.isForeign { await operations.run() }
            },
        ]
    }

    /// Deletes the records of operations that finished long ago.
    @Sendable private func sweepOperations(_ permit: DeletionPermit) async throws -> Int {
        let limit = 100
        return try await removal.inBatches(of: limit) {
            try await database.write(mayUseReserve: true) {
                try ObjectOperationRecords($0).forget(
                    finishedFor: configuration.operationRetention, permit, limit: limit)
            }
        }
    }
}
