import Basics
import Capability
import Crypto
import GatewayAPI
package import Proto
package import RPC

/// The gRPC service for the API tokens of people.
package struct ApiTokenService: ApiTokenServiceHandler {
    let accounts: Accounts

    package func createApiToken(
        _ request: CreateApiTokenRequest, context: CallContext
    ) async throws -> CreateApiTokenResponse {
        try FieldRules.title(request.tokenName, field: "token_name")
        guard let role = Role(rawValue: request.role), (Role.viewer...Role.admin).contains(role) else {
            throw RPCError.invalidArgument("role must be admin, operator or viewer")
        }
        guard let end = request.expiredAt else { throw RPCError.invalidArgument("expired_at must be set") }
        guard let expiresAt = end.time else {
            throw RPCError.invalidArgument("expired_at must be between the years 1 and 9999")
        }
        guard request.organizations.count <= APITokens.maximumOrganizations else {
            throw RPCError.invalidArgument(
                "organizations must have at most \(APITokens.maximumOrganizations) entries")
        }
        guard Set(request.organizations).count == request.organizations.count else {
            throw RPCError.invalidArgument("organizations must not name an organization twice")
        }
        let order = APITokens.Order(
            name: request.tokenName, role: role, organizations: request.organizations, expiresAt: expiresAt)
        return try await accounts.keptResponses.once(context) {
            try await accounts.own.apiTokens.create(order, by: try Caller(context))
        } respond: {
            CreateApiTokenResponse(apiToken: $0.token.message, token: $0.text.exposedText)
        }
    }

    package func listApiTokens(
        _ request: ListApiTokensRequest, context: CallContext
    ) async throws -> ListApiTokensResponse {
        let tokens = try await accounts.own.apiTokens.list(
            of: request.userName.isEmpty ? nil : request.userName, for: try Caller(context))
        return ListApiTokensResponse(apiTokens: tokens.map(\.message))
    }

    package func revokeApiToken(
        _ request: RevokeApiTokenRequest, context: CallContext
    ) async throws -> RevokeApiTokenResponse {
        try await accounts.own.apiTokens.revoke(request.tokenID, by: try Caller(context))
        return RevokeApiTokenResponse()
    }
}

extension APITokens.Named {
    fileprivate var message: ApiToken {
        ApiToken(
            tokenID: token.id, tokenName: token.name, role: token.scope.role.rawValue, organizations: organizations,
            createdAt: Timestamp(token.createdAt), expiredAt: Timestamp(token.expiresAt),
            lastUsedAt: token.lastUsedAt.map { Timestamp($0) }, lastUsedAddress: token.lastAddress, userName: userName)
    }
}
