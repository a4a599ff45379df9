import Crypto
import GatewayAPI
package import Proto
package import RPC

/// The gRPC service for a person's own account.
package struct AccountService: AccountServiceHandler {
    let accounts: Accounts

    package func getAccount(_ request: GetAccountRequest, context: CallContext) async throws -> GetAccountResponse {
        let caller = try Caller(context)
        let state = try await accounts.own.account.state(for: caller)
        return GetAccountResponse(
            user: state.user.message, hasPassword: !state.user.passwordHash.isEmpty,
            hasSecondFactor: state.hasSecondFactor, recoveryCodesLeft: Int32(clamping: state.recoveryCodesLeft),
            secondFactorRequired: state.user.requiresSecondFactor,
            secondFactorMissing: caller.user.lacksSecondFactor)
    }

    package func changePassword(
        _ request: ChangePasswordRequest, context: CallContext
    ) async throws -> ChangePasswordResponse {
        try FieldRules.password(request.newPassword, field: "new_password")
        guard request.newPassword != request.currentPassword else {
            throw RPCError.invalidArgument("new_password must differ from current_password")
        }
        let revoked = try await accounts.own.account.changePassword(
            from: Secret(request.currentPassword), to: Secret(request.newPassword), by: try Caller(context))
        return ChangePasswordResponse(revokedSessions: Int32(clamping: revoked))
    }

    package func enrollSecondFactor(
        _ request: EnrollSecondFactorRequest, context: CallContext
    ) async throws -> EnrollSecondFactorResponse {
        let caller = try Caller(context)
        let app = try await accounts.own.account.enroll(password: Secret(request.password), by: caller)
        return EnrollSecondFactorResponse(
            secret: app.text,
            otpauthURI: app.uri(
                issuer: SecondFactors.issuer, account: "\(caller.user.home.name)/\(caller.user.name)"))
    }

    package func confirmSecondFactor(
        _ request: ConfirmSecondFactorRequest, context: CallContext
    ) async throws -> ConfirmSecondFactorResponse {
        ConfirmSecondFactorResponse(
            recoveryCodes: try await accounts.own.account.confirm(code: request.code, by: try Caller(context)))
    }

    package func replaceRecoveryCodes(
        _ request: ReplaceRecoveryCodesRequest, context: CallContext
    ) async throws -> ReplaceRecoveryCodesResponse {
        ReplaceRecoveryCodesResponse(
            recoveryCodes: try await accounts.own.account.replaceRecoveryCodes(
                code: request.code, by: try Caller(context)))
    }

    package func removeSecondFactor(
        _ request: RemoveSecondFactorRequest, context: CallContext
    ) async throws -> RemoveSecondFactorResponse {
        try await accounts.own.account.removeSecondFactor(code: request.code, by: try Caller(context))
        return RemoveSecondFactorResponse()
    }
}
