import Basics
import Capability
import Crypto
import Database
import GatewayAPI
import HTTPTypes
package import Proto
import Protobuf
package import RPC

/// The gRPC service for the invitations of an organization, for its admins.
package struct InvitationManagementService: InvitationManagementServiceHandler {
    let accounts: Accounts
    let pageTokens: PageTokens
    /// The console's URL for browsers; `nil` = unknown.
    let consoleURL: String?

    package func createInvitation(
        _ request: CreateInvitationRequest, context: CallContext
    ) async throws -> CreateInvitationResponse {
        try FieldRules.accountName(request.userName, field: "user_name")
        guard let role = Role(rawValue: request.role), role != .service else {
            throw RPCError.invalidArgument("role must be admin, operator, viewer or member")
        }
        return try await accounts.keptResponses.once(context) {
            try await accounts.invitations.create(userName: request.userName, role: role, by: try Caller(context))
        } respond: { [consoleURL] created in
            let token = created.token.exposedText
            return CreateInvitationResponse(
                invitation: created.invitation.message, token: token,
                link: consoleURL.map { "\($0)/console/#/invitation/\(token)" } ?? "")
        }
    }

    package func listInvitations(
        _ request: ListInvitationsRequest, context: CallContext
    ) async throws -> ListInvitationsResponse {
        let caller = try Caller(context)
        let page = try Page(
            size: request.pageSize, token: request.pageToken, tokens: pageTokens,
            scope: "invitations|\(caller.user.userID)|\(caller.organization.id)")
        let invitations = try await accounts.invitations.list(page, for: caller)
        return ListInvitationsResponse(
            invitations: invitations.rows.map(\.message), nextPageToken: page.next(after: invitations, cursor: \.id))
    }

    package func withdrawInvitation(
        _ request: WithdrawInvitationRequest, context: CallContext
    ) async throws -> WithdrawInvitationResponse {
        try await accounts.invitations.withdraw(request.invitationID, by: try Caller(context))
        return WithdrawInvitationResponse()
    }
}

/// The gRPC service for people who were invited.
package struct InvitationService: InvitationServiceHandler {
    let accounts: Accounts

    package func getInvitation(
        _ request: GetInvitationRequest, context: CallContext
    ) async throws -> GetInvitationResponse {
        try await withBareUnavailability {
            let invitation = try await accounts.invitations.find(request.token, Self.visit(context))
            return GetInvitationResponse(
                invitation: invitation.message, secondFactorRequired: invitation.requiresSecondFactor)
        }
    }

    package func acceptInvitation(
        _ request: AcceptInvitationRequest, context: CallContext
    ) async throws -> AcceptInvitationResponse {
        try FieldRules.password(request.password, field: "password")
        return try await withBareUnavailability {
            try await accounts.keptResponses.once(context) {
                try await accounts.invitations.accept(
                    request.token, password: Secret(request.password), Self.visit(context))
            } respond: {
                AcceptInvitationResponse(user: $0.message)
            }
        }
    }

    private static func visit(_ context: CallContext) -> Invitations.Visit {
        Invitations.Visit(action: context.method.name, peer: context.peer.host)
    }
}

extension InvitationRecord {
    fileprivate var message: Invitation {
        Invitation(
            invitationID: id, organization: organization.name, userName: userName, role: role.rawValue,
            invitedBy: inviter.name, invitedByOrganization: inviter.organization, createdAt: Timestamp(createdAt),
            expiredAt: Timestamp(expiresAt))
    }
}
