import Crypto
import GatewayFormats
package import Proto
package import RPC

/// The gRPC service for sign-in policies and second factors of users, for admins; and for credentials of service accounts and
/// token-signing keys, for admins of SYSTEM.
package struct IdentityManagementService: IdentityManagementServiceHandler {
    let accounts: Accounts

    package func issueSystemCredential(
        _ request: IssueSystemCredentialRequest, context: CallContext
    ) async throws -> IssueSystemCredentialResponse {
        let caller = try Caller(context)
        try caller.requirePerson(to: "issue credentials")
        let credential = try await accounts.credentials.system.issue(to: request.userName, by: caller)
        return IssueSystemCredentialResponse(userName: request.userName, credential: credential.exposedText)
    }

    package func rotateSigningKey(
        _ request: RotateSigningKeyRequest, context: CallContext
    ) async throws -> RotateSigningKeyResponse {
        let keys = try await accounts.rotateSigningKey(by: try Caller(context))
        return RotateSigningKeyResponse(keyID: keys.latest.id, olderKeyIDs: keys.all.dropLast().map(\.id))
    }

    package func resetSecondFactor(
        _ request: ResetSecondFactorRequest, context: CallContext
    ) async throws -> ResetSecondFactorResponse {
        try await accounts.registries.policies.resetSecondFactor(of: request.userName, by: try Caller(context))
        return ResetSecondFactorResponse()
    }

    package func getSignInPolicy(
        _ request: GetSignInPolicyRequest, context: CallContext
    ) async throws -> GetSignInPolicyResponse {
        let isRequired = try await accounts.registries.policies.requiresSecondFactor(for: try Caller(context))
        return GetSignInPolicyResponse(policy: SignInPolicy(requiresSecondFactor: isRequired))
    }

    package func setSignInPolicy(
        _ request: SetSignInPolicyRequest, context: CallContext
    ) async throws -> SetSignInPolicyResponse {
        guard let policy = request.policy else { throw RPCError.invalidArgument("policy must be set") }
        try await accounts.registries.policies.setRequiresSecondFactor(
            policy.requiresSecondFactor, by: try Caller(context))
        return SetSignInPolicyResponse(policy: policy)
    }
}
