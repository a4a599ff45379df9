import Proto
import RPC

/// The gRPC service for credentials of service accounts and for token-signing keys, for admins of SYSTEM.
package struct IdentityManagementService: IdentityManagementServiceHandler {
    let accounts: Accounts

    package func issueSystemCredential(
        _ request: IssueSystemCredentialRequest, context: CallContext
    ) async throws -> IssueSystemCredentialResponse {
        let credential = try await accounts.systemCredentials.issue(to: request.userName, by: try Caller(context))
        return IssueSystemCredentialResponse(userName: request.userName, credential: credential.exposedText)
    }

    package func rotateSigningKey(
        _ request: RotateSigningKeyRequest, context: CallContext
    ) async throws -> RotateSigningKeyResponse {
        let keys = try await accounts.rotateSigningKey(by: try Caller(context))
        return RotateSigningKeyResponse(keyID: keys.current.id, olderKeyIDs: keys.older.map(\.id))
    }
}
