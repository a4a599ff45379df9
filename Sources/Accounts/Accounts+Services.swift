import GatewayAPI
import Proto
import RPC

/// The services, registered for the listeners.
extension Accounts {
    /// Registers AuthService, SystemAuthService, SessionService, AccountService and ApiTokenService.
    package func register(in router: inout Router) {
        authService.register(in: &router)
        systemAuthService.register(in: &router)
        sessionService.register(in: &router)
        accountService.register(in: &router)
        apiTokenService.register(in: &router)
        for method in [AuthServiceMethods.login, SessionServiceMethods.completeLogin] {
            router.apply(MethodRules(keepsUserAgent: true), to: method)
        }
    }

    /// Registers AdminAuthService, UserAuthService, IdentityManagementService and AuditService, for the admin listener.
    package func registerManagement(devices: any DeviceDirectory, in router: inout Router) {
        adminAuthService(devices: devices).register(in: &router)
        userAuthService.register(in: &router)
        identityManagementService.register(in: &router)
        auditService.register(in: &router)
    }

    package var authService: AuthService { AuthService(accounts: self) }

    package var systemAuthService: SystemAuthService { SystemAuthService(accounts: self) }

    package var sessionService: SessionService { SessionService(accounts: self) }

    package var accountService: AccountService { AccountService(accounts: self) }

    package var apiTokenService: ApiTokenService { ApiTokenService(accounts: self) }

    package func adminAuthService(devices: any DeviceDirectory) -> AdminAuthService {
        AdminAuthService(accounts: self, devices: devices)
    }

    package var userAuthService: UserAuthService { UserAuthService(accounts: self, pageTokens: pageTokens) }

    package var identityManagementService: IdentityManagementService { IdentityManagementService(accounts: self) }

    package var auditService: AuditService { AuditService(accounts: self, pageTokens: pageTokens) }
}
