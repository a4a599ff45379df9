import Capability
import Crypto
import Database
import GatewayAPI
package import Proto
package import RPC

/// The gRPC service for the users of an organization, for its admins.
package struct UserAuthService: UserAuthServiceHandler {
    private static let largestPage = 1000

    let accounts: Accounts
    let pageTokens: PageTokens

    package func createUser(_ request: CreateUserRequest, context: CallContext) async throws -> CreateUserResponse {
        try FieldRules.accountName(request.userName, field: "user_name")
        let role = try FieldRules.role(request.role)
        if role != .service { try FieldRules.password(request.password, field: "password") }
        return try await accounts.keptResponses.once(context) {
            try await accounts.registries.users.createUser(
                name: request.userName, password: role == .service ? nil : Secret(request.password), role: role,
                by: try Caller(context))
        } respond: {
            CreateUserResponse(user: $0.message)
        }
    }

    package func getUser(_ request: GetUserRequest, context: CallContext) async throws -> GetUserResponse {
        GetUserResponse(
            user: try await accounts.registries.users.user(request.userName, for: try Caller(context)).message)
    }

    package func listUsers(_ request: ListUsersRequest, context: CallContext) async throws -> ListUsersResponse {
        let caller = try Caller(context)
        // Clients from before there were pages expect all users.
        let page = try Page(
            size: request.pageSize, token: request.pageToken, tokens: pageTokens,
            scope: "users|\(caller.user.userID)|\(caller.organization.id)", defaultSize: Self.largestPage)
        let users = try await accounts.registries.users.users(page, for: caller)
        return ListUsersResponse(
            users: users.rows.map(\.message), nextPageToken: page.next(after: users) { "\($0.user.id)" })
    }

    package func updateUser(_ request: UpdateUserRequest, context: CallContext) async throws -> UpdateUserResponse {
        if let password = request.password { try FieldRules.password(password, field: "password") }
        let user = try await accounts.registries.users.updateUser(
            request.userName, password: request.password.map { Secret($0) },
            role: try request.role.map(FieldRules.role), by: try Caller(context))
        return UpdateUserResponse(user: user.message)
    }

    package func deleteUser(_ request: DeleteUserRequest, context: CallContext) async throws -> DeleteUserResponse {
        try await accounts.registries.users.deleteUser(request.userName, by: try Caller(context))
        return DeleteUserResponse()
    }
}
