import Basics
package import Capability
package import Database
import Proto
package import RPC

/// The services of sign-ins, tokens and the caller's own account. Those of an organization's accounts are ``AccountManagement``'s.
extension Accounts: Capability {
    package static var migrations: [Migration] { AccountRecords.migrations + [KeptResponseSchema.migration] }

    package static var settings: (any CapabilitySettings.Type)? { AccountsConfiguration.self }

    package static var access: AccessTable {
        AccessTable([
            (.anyone, [AuthServiceMethods.exchangeCredential, AuthServiceMethods.rotateCredential]),
            (.anyone, [AuthServiceMethods.login, AuthServiceMethods.refreshToken]),
            (.anyone, [SystemAuthServiceMethods.exchangeSystemCredential]),
            (.anyone, [SessionServiceMethods.logout, SessionServiceMethods.completeLogin]),
            (.anyone, [InvitationServiceMethods.getInvitation, InvitationServiceMethods.acceptInvitation]),
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
        ])
    }

    package func register(for listener: ListenerName, in router: inout Router) {
        guard listener == .auth || listener == .web else { return }
        authService.register(in: &router)
        systemAuthService.register(in: &router)
        sessionService.register(in: &router)
        accountService.register(in: &router)
        apiTokenService.register(in: &router)
        invitationService.register(in: &router)
        for method in [AuthServiceMethods.login, SessionServiceMethods.completeLogin] {
            router.apply(MethodRules(keepsUserAgent: true), to: method)
        }
    }

    package var sweeps: [Sweep] {
        [.always("audit_lines", isLocal: true, run: tidy), Sweep("sessions", run: sweepSessions)]
    }

    package var metrics: [any MetricSource] { [auditPressure] }

    /// Writes deferred records, reads the signing keys that other gateways may have rotated, and removes audit lines beyond their
    /// retention.
    ///
    /// - Parameter permit: `nil` = nothing is removed by its age.
    /// - Returns: the number of removed lines.
    func tidy(_ permit: DeletionPermit?) async throws -> Int {
        deferred.flush(at: clock.now())
        try await keyUpdates?.read()
        return try await auditRetention.run(permit)
    }

    /// Removes sessions, API tokens, invitations and kept responses that have expired, and failures that are forgiven.
    ///
    /// - Returns: the number of removed ones.
    func sweepSessions(_ permit: DeletionPermit) async throws -> Int {
        let (retention, now) = (sessions.configuration.expiredTokenRetention, clock.now())
        return try await database.write(mayUseReserve: true) { connection in
            try SessionRecords(connection).deleteExpired(limit: Self.sweepBatch, permit)
                + APITokenRecords(connection).deleteExpired(for: retention, limit: Self.sweepBatch, permit)
                + InvitationRecords(connection).deleteExpired(limit: Self.sweepBatch, permit)
                + FailureRecords(connection).deleteEnded(at: now, limit: Self.sweepBatch)
                + KeptResponseRecords(connection).deleteExpired(limit: Self.sweepBatch, permit)
        }
    }

    /// The number of rows that a sweep removes in one transaction, during which other writes wait.
    private static let sweepBatch = 500
}

/// The services for those who manage an organization's sites, keys and users, or the organizations.
package struct AccountManagement: Capability {
    private let accounts: Accounts
    private let devices: any DeviceDirectory
    private let vocabulary: AuditVocabulary

    /// - Parameters:
    ///   - devices: decides for which devices keys may be made.
    ///   - vocabulary: the words of the audit log for all actions.
    package init(_ accounts: Accounts, devices: any DeviceDirectory, vocabulary: AuditVocabulary) {
        self.accounts = accounts
        self.devices = devices
        self.vocabulary = vocabulary
    }

    package static var access: AccessTable {
        AccessTable([
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
                .user(.admin),
                [
                    InvitationManagementServiceMethods.createInvitation,
                    InvitationManagementServiceMethods.listInvitations,
                    InvitationManagementServiceMethods.withdrawInvitation,
                ]
            ),
            (
                .systemAdmin,
                [
                    IdentityManagementServiceMethods.issueSystemCredential,
                    IdentityManagementServiceMethods.rotateSigningKey,
                ]
            ),
            (
                .user(.admin),
                [
                    IdentityManagementServiceMethods.resetSecondFactor,
                    IdentityManagementServiceMethods.getSignInPolicy,
                    IdentityManagementServiceMethods.setSignInPolicy,
                ]
            ),
            (.user(.admin), [AuditServiceMethods.listAuditLines, AuditServiceMethods.listAuditLineTargets]),
        ])
    }

    package func register(for listener: ListenerName, in router: inout Router) {
        guard listener == .admin || listener == .web else { return }
        accounts.adminAuthService(devices: devices).register(in: &router)
        accounts.userAuthService.register(in: &router)
        accounts.identityManagementService.register(in: &router)
        accounts.invitationManagementService.register(in: &router)
        accounts.auditService(vocabulary).register(in: &router)
    }
}
