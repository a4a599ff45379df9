import Proto
import Protobuf

extension AccessTable {
    /// The table of the gateway's own services.
    package static let gateway = AccessTable(rows)

    private static let rows: [(access: Access, methods: [MethodDescriptor])] = [
        (.anyone, [HealthMethods.check, HealthMethods.list, HealthMethods.watch]),
        (.anyone, [ServerReflectionMethods.serverReflectionInfo]),
        (.anyone, [V1AlphaServerReflectionMethods.serverReflectionInfo]),
        (.anyone, [AuthServiceMethods.exchangeCredential, AuthServiceMethods.rotateCredential]),
        (.anyone, [AuthServiceMethods.login, AuthServiceMethods.refreshToken]),
        (.anyone, [SystemAuthServiceMethods.exchangeSystemCredential]),
        (.anyone, [SessionServiceMethods.logout, SessionServiceMethods.completeLogin]),
        (
            .anyone,
            [
                IdentityServiceMethods.listProviders, IdentityServiceMethods.beginSignIn,
                IdentityServiceMethods.completeSignIn, IdentityServiceMethods.signInWithIdentityToken,
                IdentityServiceMethods.exchangeWorkloadToken,
            ]
        ),
        (.user(.viewer), [IdentityServiceMethods.listIdentities]),
        (.user(.admin), [IdentityServiceMethods.findUsersByEmail]),
        (.session, [IdentityServiceMethods.unlink]),
        (
            .unprovenSession,
            [
                SessionServiceMethods.listSessions, SessionServiceMethods.revokeSession,
                SessionServiceMethods.revokeOtherSessions, AccountServiceMethods.getAccount,
                AccountServiceMethods.changePassword, AccountServiceMethods.enrollSecondFactor,
                AccountServiceMethods.confirmSecondFactor,
            ]
        ),
        (
            .session,
            [
                AccountServiceMethods.replaceRecoveryCodes, AccountServiceMethods.removeSecondFactor,
                ApiTokenServiceMethods.createApiToken, ApiTokenServiceMethods.listApiTokens,
                ApiTokenServiceMethods.revokeApiToken,
            ]
        ),
        (
            .user(.admin),
            [
                AdminAuthServiceMethods.createSite, AdminAuthServiceMethods.enableSite,
                AdminAuthServiceMethods.disableSite, AdminAuthServiceMethods.updateSite,
                AdminAuthServiceMethods.deleteSite,
            ]
        ),
        (.user(.viewer), [AdminAuthServiceMethods.getSite, AdminAuthServiceMethods.listSites]),
        (
            .user(.operator),
            [
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
        (
            .user(.admin),
            [
                IdentityManagementServiceMethods.resetSecondFactor, IdentityManagementServiceMethods.getSignInPolicy,
                IdentityManagementServiceMethods.setSignInPolicy,
            ]
        ),
        (.user(.admin), [AuditServiceMethods.listAuditLines]),
        (.anyone, [DeviceInitServiceMethods.initDevice, DeviceInitServiceMethods.reinitDevice]),
        (
            .user(.operator),
            [
                DeviceManagementServiceMethods.createDeviceSuite, DeviceManagementServiceMethods.getDeviceSuite,
                DeviceManagementServiceMethods.listDeviceSuites, DeviceManagementServiceMethods.updateDeviceSuite,
                DeviceManagementServiceMethods.deleteDeviceSuite,
                DeviceManagementServiceMethods.registerDevice, DeviceManagementServiceMethods.getDevice,
                DeviceManagementServiceMethods.listDevices, DeviceManagementServiceMethods.updateDevice,
                DeviceManagementServiceMethods.enableDevice, DeviceManagementServiceMethods.disableDevice,
                DeviceManagementServiceMethods.addDeviceToSuite, DeviceManagementServiceMethods.removeDeviceFromSuite,
                DeviceManagementServiceMethods.retireDevice, DeviceManagementServiceMethods.unretireDevice,
                DeviceManagementServiceMethods.deleteDevice, DeviceManagementServiceMethods.allowReinit,
                DeviceManagementServiceMethods.rotateDeviceKeys, DeviceManagementServiceMethods.announceAddresses,
                DeviceManagementServiceMethods.getAnnouncedAddresses, DeviceManagementServiceMethods.withdrawAddresses,
            ]
        ),
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
            [DataGatewayObjectServiceMethods.listObjects, DataGatewayObjectServiceMethods.requestDownload]
        ),
        (.user(.viewer), [ObjectArchiveServiceMethods.zipObjects]),
        (.user(.viewer), [DataGatewayCopyServiceMethods.getCopyJob, DataGatewayCopyServiceMethods.listCopyJobItems]),
        (.user(.viewer), [CopyManagementServiceMethods.listCopyJobs]),
        (.user(.operator), [CopyManagementServiceMethods.listCopyDestinations]),
        (.user(.operator), [DataGatewayCopyServiceMethods.createCopyJob, DataGatewayCopyServiceMethods.cancelCopyJob]),
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
            ]
        ),
        (.user(.operator), [ObjectManagementServiceMethods.updateObject]),
        (
            .user(.admin),
            [
                EventServiceMethods.listDeadLetters, EventServiceMethods.redeliverEvent,
                EventServiceMethods.listWebhooks, EventServiceMethods.listDeliveries,
                EventServiceMethods.sendTestEvent,
            ]
        ),
        (
            .user(.viewer),
            [
                ObjectManagementServiceMethods.getObject, ObjectManagementServiceMethods.getObjectFacets,
                ObjectManagementServiceMethods.getStatistics,
            ]
        ),
        (.user(.viewer), [UploadManagementServiceMethods.listUploads]),
        (
            .user(.operator),
            [
                UploadManagementServiceMethods.cancelUpload, UploadManagementServiceMethods.createSiteUpload,
                UploadManagementServiceMethods.getSiteUpload, UploadManagementServiceMethods.issueSiteUploadCredentials,
                UploadManagementServiceMethods.completeSiteUpload,
            ]
        ),
        (.systemAdmin, [BackupServiceMethods.backup]),
        (
            .systemAdmin,
            [
                RestoreServiceMethods.stageArchive, RestoreServiceMethods.uploadArchive,
                RestoreServiceMethods.getRestore, RestoreServiceMethods.discardArchive,
                RestoreServiceMethods.applyArchive, RestoreServiceMethods.returnToPreviousData,
                RestoreServiceMethods.deletePreviousData,
            ]
        ),
        (.systemAdmin, [SystemServiceMethods.getSystemStatus, SystemServiceMethods.listSettings]),
        (.systemAdmin, [ClockServiceMethods.getClock, ClockServiceMethods.confirmClock]),
        (
            .systemAdminOrCertificate,
            [InternalStorageServiceMethods.presignObject, InternalStorageServiceMethods.readObject]
        ),
    ]
}
