import Proto
import Protobuf

/// The callers for whom a method is open.
package enum Access: Sendable, Hashable {
    /// Callers without any token.
    case anyone
    /// Devices and sites, by the access token for their API key.
    case apiKey
    /// Users with at least this role in the organization of the call.
    case user(Role)
    /// Admins and service accounts of the SYSTEM organization.
    case systemAdmin
    /// The same, and programs with a client certificate from the listener's authorities.
    case systemAdminOrCertificate
}

/// The single list of the callers for each RPC. Methods that it does not contain are closed to everybody.
package enum AccessTable {
    /// - Parameter path: an HTTP/2 `:path`, e.g. `/archebase.auth.v1.AuthService/Login`.
    package static func access(to path: String) -> Access? {
        table[path]
    }

    /// Whether calls of a method leave no line in the audit log.
    ///
    /// - Parameter method: its name without the service's.
    static func onlyReads(_ method: String) -> Bool {
        method.hasPrefix("Get") || method.hasPrefix("List")
    }

    private static let table = rows.reduce(into: [String: Access]()) { table, row in
        for method in row.methods { table[method.path] = row.access }
    }

    private static let rows: [(access: Access, methods: [MethodDescriptor])] = [
        (.anyone, [HealthMethods.check, HealthMethods.list, HealthMethods.watch]),
        (.anyone, [ServerReflectionMethods.serverReflectionInfo]),
        (.anyone, [V1AlphaServerReflectionMethods.serverReflectionInfo]),
        (.anyone, [AuthServiceMethods.exchangeCredential, AuthServiceMethods.login, AuthServiceMethods.refreshToken]),
        (.anyone, [SystemAuthServiceMethods.exchangeSystemCredential]),
        (.anyone, [SessionServiceMethods.logout]),
        (
            .anyone,
            [
                IdentityServiceMethods.listProviders, IdentityServiceMethods.beginSignIn,
                IdentityServiceMethods.completeSignIn, IdentityServiceMethods.signInWithIdentityToken,
                IdentityServiceMethods.exchangeWorkloadToken,
            ]
        ),
        (.user(.viewer), [IdentityServiceMethods.listIdentities, IdentityServiceMethods.unlink]),
        (
            .user(.admin),
            [
                AdminAuthServiceMethods.createSite, AdminAuthServiceMethods.enableSite,
                AdminAuthServiceMethods.disableSite, AdminAuthServiceMethods.updateSite,
                AdminAuthServiceMethods.deleteSite,
            ]
        ),
        (
            .user(.operator),
            [
                AdminAuthServiceMethods.getSite, AdminAuthServiceMethods.listSites,
                AdminAuthServiceMethods.createSiteApiKey, AdminAuthServiceMethods.createOrRotateDeviceApiKey,
                AdminAuthServiceMethods.getApiKey, AdminAuthServiceMethods.listApiKeys,
                AdminAuthServiceMethods.updateApiKey, AdminAuthServiceMethods.enableApiKey,
                AdminAuthServiceMethods.disableApiKey, AdminAuthServiceMethods.rotateApiKeySecret,
                AdminAuthServiceMethods.deleteApiKey,
            ]
        ),
        (
            .systemAdmin,
            [
                AdminAuthServiceMethods.createOrganization, AdminAuthServiceMethods.getOrganization,
                AdminAuthServiceMethods.listOrganizations, AdminAuthServiceMethods.updateOrganization,
                AdminAuthServiceMethods.deleteOrganization,
            ]
        ),
        (
            .user(.admin),
            [
                UserAuthServiceMethods.createUser, UserAuthServiceMethods.getUser, UserAuthServiceMethods.listUsers,
                UserAuthServiceMethods.updateUser, UserAuthServiceMethods.deleteUser,
            ]
        ),
        (
            .systemAdmin,
            [IdentityManagementServiceMethods.issueSystemCredential, IdentityManagementServiceMethods.rotateSigningKey]
        ),
        (.user(.admin), [AuditServiceMethods.listAuditLines]),
        (.anyone, [DeviceInitServiceMethods.initDevice, DeviceInitServiceMethods.reinitDevice]),
        (
            .user(.operator),
            [
                DeviceManagementServiceMethods.createDeviceSuite, DeviceManagementServiceMethods.getDeviceSuite,
                DeviceManagementServiceMethods.listDeviceSuites, DeviceManagementServiceMethods.deleteDeviceSuite,
                DeviceManagementServiceMethods.registerDevice, DeviceManagementServiceMethods.getDevice,
                DeviceManagementServiceMethods.listDevices, DeviceManagementServiceMethods.updateDevice,
                DeviceManagementServiceMethods.enableDevice, DeviceManagementServiceMethods.disableDevice,
                DeviceManagementServiceMethods.addDeviceToSuite, DeviceManagementServiceMethods.removeDeviceFromSuite,
                DeviceManagementServiceMethods.deleteDevice, DeviceManagementServiceMethods.allowReinit,
            ]
        ),
        (
            .apiKey,
            [
                DataGatewayServiceMethods.createLogicalUpload, DataGatewayServiceMethods.getUploadRecovery,
                DataGatewayServiceMethods.reissueUploadCredentials, DataGatewayServiceMethods.abortUpload,
                DataGatewayServiceMethods.completeUpload,
            ]
        ),
        (
            .user(.viewer),
            [DataGatewayObjectServiceMethods.listObjects, DataGatewayObjectServiceMethods.requestDownload]
        ),
        (.user(.viewer), [DataGatewayCopyServiceMethods.getCopyJob, DataGatewayCopyServiceMethods.listCopyJobItems]),
        (.user(.operator), [DataGatewayCopyServiceMethods.createCopyJob, DataGatewayCopyServiceMethods.cancelCopyJob]),
        (
            .user(.admin),
            [
                ObjectManagementServiceMethods.deleteObject, ObjectManagementServiceMethods.restoreObject,
                ObjectManagementServiceMethods.purgeObject, ObjectManagementServiceMethods.setTrashSettings,
                ObjectManagementServiceMethods.getTrashSettings, ObjectManagementServiceMethods.deleteObjects,
                ObjectManagementServiceMethods.getObjectOperation,
                ObjectManagementServiceMethods.listObjectOperations,
                ObjectManagementServiceMethods.cancelObjectOperation, ObjectManagementServiceMethods.setRetention,
                ObjectManagementServiceMethods.getRetention, ObjectManagementServiceMethods.listBadObjects,
            ]
        ),
        (.user(.operator), [ObjectManagementServiceMethods.updateObject]),
        (.user(.admin), [EventServiceMethods.listDeadLetters, EventServiceMethods.redeliverEvent]),
        (
            .user(.viewer),
            [
                ObjectManagementServiceMethods.getObject, ObjectManagementServiceMethods.getObjectFacets,
                ObjectManagementServiceMethods.getStatistics,
            ]
        ),
        (.user(.viewer), [UploadManagementServiceMethods.listUploads]),
        (.user(.operator), [UploadManagementServiceMethods.cancelUpload]),
        (.systemAdmin, [BackupServiceMethods.backup]),
        (.systemAdmin, [ClockServiceMethods.getClock, ClockServiceMethods.confirmClock]),
        (
            .systemAdminOrCertificate,
            [InternalStorageServiceMethods.presignObject, InternalStorageServiceMethods.readObject]
        ),
    ]
}
