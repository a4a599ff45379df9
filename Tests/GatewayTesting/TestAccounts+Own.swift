import Accounts
import Basics
import Database
import HTTPTypes
package import Proto
import RPC
import Wire

/// The calls of people on their own accounts.
extension TestAccounts {
    /// Signs the admin in with a program that names itself.
    package func login(userAgent: String, host: String) async throws -> LoginResponse {
        let context = CallContext(
            method: AuthServiceMethods.login, metadata: Metadata([("user-agent", userAgent)]),
            peer: PeerAddress(host: host, port: 40_000))
        return try await accounts.authService.login(
            LoginRequest(organization: "system", userName: "admin", password: Self.adminPassword), context: context)
    }

    package func complete(
        _ challenge: String, code: String, host: String = "192.0.2.7"
    ) async throws -> CompleteLoginResponse {
        try await accounts.sessionService.completeLogin(
            CompleteLoginRequest(challenge: challenge, code: code),
            context: try call(SessionServiceMethods.completeLogin, host: host))
    }

    package func sessions(token: String) async throws -> [UserSession] {
        try await accounts.sessionService.listSessions(
            ListSessionsRequest(), context: try call(SessionServiceMethods.listSessions, token: token)
        ).sessions
    }

    package func account(token: String) async throws -> GetAccountResponse {
        try await accounts.accountService.getAccount(
            GetAccountRequest(), context: try call(AccountServiceMethods.getAccount, token: token))
    }

    package func enroll(password: String, token: String) async throws -> EnrollSecondFactorResponse {
        try await accounts.accountService.enrollSecondFactor(
            EnrollSecondFactorRequest(password: password),
            context: try call(AccountServiceMethods.enrollSecondFactor, token: token))
    }

    package func confirm(code: String, token: String) async throws -> [String] {
        try await accounts.accountService.confirmSecondFactor(
            ConfirmSecondFactorRequest(code: code),
            context: try call(AccountServiceMethods.confirmSecondFactor, token: token)
        ).recoveryCodes
    }

    package func createToken(
        _ name: String, role: String, organizations: [String] = [], lifetime: Int64 = 3600, token: String
    ) async throws -> CreateApiTokenResponse {
        try await accounts.apiTokenService.createApiToken(
            CreateApiTokenRequest(
                tokenName: name, role: role, organizations: organizations,
                expiredAt: Timestamp(seconds: clock.now().seconds + lifetime)),
            context: try call(ApiTokenServiceMethods.createApiToken, token: token))
    }

    /// Sets an organization's policy without the call, which admits only callers with a second factor.
    package func requireSecondFactor(of organization: String, _ isRequired: Bool) async throws {
        _ = try await database.write {
            try $0.execute(
                "UPDATE organizations SET requires_second_factor = $2 WHERE name = $1", organization, isRequired)
        }
    }
}
