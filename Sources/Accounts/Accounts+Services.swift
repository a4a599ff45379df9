import GatewayAPI

/// The services.
extension Accounts {
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
