import Accounts
import Basics
import Database
import GatewayAPI
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing
import Wire

@testable import Serve

/// Calls every method of every service as every kind of caller. The expectations repeat the contract's words instead of using the
/// table, so that an error in the table is found.
@Suite(.timeLimited) struct AccessMatrixTests {
    private static let open: Set<String> = [
        "Check", "List", "Watch", "ServerReflectionInfo", "ExchangeCredential", "RotateCredential", "Login",
        "RefreshToken", "ExchangeSystemCredential", "Logout", "CompleteLogin", "InitDevice", "ReinitDevice",
        "ListProviders", "BeginSignIn", "CompleteSignIn", "SignInWithIdentityToken", "ExchangeWorkloadToken",
        "GetInvitation", "AcceptInvitation",
    ]
    private static let ownAccount: Set<String> = [
        "ListSessions", "RevokeSession", "RevokeOtherSessions", "GetAccount", "ChangePassword", "EnrollSecondFactor",
        "ConfirmSecondFactor", "ReplaceRecoveryCodes", "RemoveSecondFactor", "CreateApiToken", "ListApiTokens",
        "RevokeApiToken", "Unlink",
    ]
    /// The calls of a session that lacks the second factor that its organization requires.
    private static let unproven: Set<String> = [
        "ListSessions", "RevokeSession", "RevokeOtherSessions", "GetAccount", "ChangePassword", "EnrollSecondFactor",
        "ConfirmSecondFactor",
    ]
    private static let uploads: Set<String> = [
        "CreateLogicalUpload", "GetUploadRecovery", "ReissueUploadCredentials", "AbortUpload", "CompleteUpload",
        "FindStoredFiles",
    ]
    private static let viewing: Set<String> = [
        "ListObjects", "RequestDownload", "GetCopyJob", "ListCopyJobItems", "GetObject", "GetObjectFacets",
        "GetStatistics", "GetStorageUse", "GetSite", "ListSites", "ListUploads", "ListFailedUploads", "ListIdentities",
        "ZipObjects", "ListCopyJobs",
        "GetDeviceNames", "ListSavedSearches",
    ]
    private static let operating: Set<String> = [
        "CreateCopyJob", "CancelCopyJob", "CreateSiteApiKey", "CreateOrRotateDeviceApiKey",
        "GetApiKey", "ListApiKeys", "UpdateApiKey", "EnableApiKey", "DisableApiKey", "RotateApiKeySecret",
        "DeleteApiKey", "CreateDeviceSuite", "GetDeviceSuite", "ListDeviceSuites", "UpdateDeviceSuite",
        "DeleteDeviceSuite",
        "RegisterDevice", "GetDevice", "ListDevices", "UpdateDevice", "EnableDevice", "DisableDevice",
        "AddDeviceToSuite", "RemoveDeviceFromSuite", "RetireDevice", "UnretireDevice", "DeleteDevice", "AllowReinit",
        "RotateDeviceKeys", "AnnounceAddresses", "GetAnnouncedAddresses", "WithdrawAddresses", "UpdateObject",
        "CancelUpload",
        "ListCopyDestinations", "CreateSiteUpload", "GetSiteUpload", "IssueSiteUploadCredentials",
        "CompleteSiteUpload",
    ]
    private static let administering: Set<String> = [
        "CreateSite", "EnableSite", "DisableSite", "UpdateSite", "DeleteSite", "CreateUser", "GetUser", "ListUsers",
        "UpdateUser", "DeleteUser", "CreateInvitation", "ListInvitations", "WithdrawInvitation", "ListAuditLines",
        "ListAuditLineTargets", "DeleteObject", "SetRetention",
        "GetRetention", "ListBadObjects",
        "DeleteObjects", "GetObjectOperation", "ListObjectOperations", "CancelObjectOperation", "RestoreObject",
        "RestoreObjects", "PurgeObjects", "UndoObjectOperation",
        "PurgeObject", "SetTrashSettings", "GetTrashSettings", "ListDeadLetters", "RedeliverEvent",
        "ListWebhooks", "ListDeliveries", "SendTestEvent", "RetryWebhook",
        "ResetSecondFactor", "FindUsersByEmail", "GetSignInPolicy", "SetSignInPolicy",
        "SaveSearch", "DeleteSavedSearch",
    ]
    private static let system: Set<String> = [
        "CreateOrganization", "GetOrganization", "ListOrganizations", "UpdateOrganization", "DeleteOrganization",
        "PresignObject", "ReadObject", "IssueSystemCredential", "RotateSigningKey", "Backup", "GetClock",
        "ConfirmClock", "GetSystemStatus", "ListSettings", "StartEngineCopy", "GetEngineCopy",
        "StopEngineCopy", "StageArchive", "UploadArchive", "GetRestore",
        "DiscardArchive", "ApplyArchive", "ReturnToPreviousData", "DeletePreviousData",
    ]

    @Test func everyCallerIsLetInWhereTheContractSays() async throws {
        let world = try await TestAccounts(access: GatewayModules.access)
        let admin = try await world.login().accessToken
        let boss = try await world.createOrganization("acme", token: admin)
        let site = try await world.createSite(token: admin).siteID
        let siteKey = try await world.createKey(site: site, token: admin)
        let deviceKey = try await world.adminService.createOrRotateDeviceApiKey(
            CreateOrRotateDeviceApiKeyRequest(deviceID: OneDevice.id),
            context: world.call(AdminAuthServiceMethods.createOrRotateDeviceApiKey, token: admin))
        func user(_ role: String) async throws -> String {
            _ = try await world.createUser("the-\(role)", role: role, token: boss)
            return try await world.login("the-\(role)", organization: "acme", password: "long enough").accessToken
        }
        let view = Self.open.union(Self.viewing)
        let operate = view.union(Self.operating)
        let administer = operate.union(Self.administering)
        let expectations: [(caller: String, token: String?, methods: Set<String>)] = [
            ("nobody", nil, Self.open),
            ("device", try await world.exchange(deviceKey.credential).accessToken, Self.open.union(Self.uploads)),
            ("site", try await world.exchange(siteKey.credential).accessToken, Self.open.union(Self.uploads)),
            ("member", try await user("member"), Self.open),
            ("viewer", try await user("viewer"), view.union(Self.ownAccount)),
            ("operator", try await user("operator"), operate.union(Self.ownAccount)),
            ("admin", boss, administer.union(Self.ownAccount)),
            ("admin of system", admin, administer.union(Self.system).union(Self.ownAccount)),
            ("service", try await world.service(token: admin).token, administer.union(Self.system)),
        ]
        for (caller, token, methods) in expectations {
            for method in AccessTableTests.services.joined() {
                let error = await refusal { _ = try world.call(method, token: token) }
                #expect((error == nil) == methods.contains(method.name), "\(caller) \(method.path)")
            }
        }
        let systemTokens: [(caller: String, organizations: [String], role: String, methods: Set<String>)] = [
            ("token of a viewer", [], "viewer", view), ("token of an operator", [], "operator", operate),
            ("token of the admin of system", [], "admin", administer.union(Self.system)),
            ("token for one organization", ["acme"], "admin", administer),
            ("token for system", ["system"], "admin", administer),
        ]
        for (caller, organizations, role, methods) in systemTokens {
            let token = try await world.createToken(
                caller, role: role, organizations: organizations, token: admin)
            for method in AccessTableTests.services.joined() {
                let error = await refusal { _ = try world.call(method, token: token.token) }
                #expect((error == nil) == methods.contains(method.name), "\(caller) \(method.path)")
            }
        }
        try await world.requireSecondFactor(of: "acme", true)
        for method in AccessTableTests.services.joined() {
            let error = await refusal { _ = try world.call(method, token: boss) }
            #expect(
                (error == nil) == Self.open.union(Self.unproven).contains(method.name),
                "no second factor \(method.path)")
        }
        try await world.requireSecondFactor(of: "acme", false)
        let guarded = AccessTableTests.services.joined().filter { !Self.open.contains($0.name) }
        for method in guarded where !Self.uploads.contains(method.name) {
            let error = await refusal { _ = try world.call(method, token: boss, organization: "system") }
            #expect(error?.status == .permissionDenied, "for another organization \(method.path)")
        }
        try await world.raiseEpochs(by: 1)
        for (caller, token, _) in expectations {
            for method in guarded {
                let error = await refusal { _ = try world.call(method, token: token) }
                #expect(error?.detail == .unauthenticated, "\(caller), revoked \(method.path)")
            }
        }
        try await world.raiseEpochs(by: -1)
        world.clock.advance(seconds: 900)
        for (caller, token, _) in expectations {
            for method in guarded {
                let error = await refusal { _ = try world.call(method, token: token) }
                #expect(error?.detail == .unauthenticated, "\(caller), later \(method.path)")
            }
        }
    }
}

extension TestAccounts {
    /// Increases every epoch, which revokes every issued token; a negative step makes the tokens valid again.
    fileprivate func raiseEpochs(by step: Int) async throws {
        try await database.write { connection in
            _ = try connection.execute("UPDATE users SET epoch = epoch + $1", step)
            _ = try connection.execute("UPDATE api_keys SET epoch = epoch + $1", step)
        }
    }
}
