import Basics
package import CommandLineInterface
import JSON
package import Proto

/// `data-gateway user invite`
struct UserInvite: ClientCommand {
    static let name = "invite"
    static let summary = "Create an invitation for a future user, and show its link once"
    static let discussion = [
        """
        The first person who opens the link chooses the password. The link works once, for 72 hours, and as long as you \
        are an admin.
        """
    ]
    static let examples = ["user invite nora --role operator"]

    static var parameters: [Parameter<Self>] {
        [
            .argument("NAME", \.userName, "The name that the user will have"),
            .option("--role", "ROLE", \.role, "The user's role: admin, operator, viewer or member", isRequired: true),
        ] + connectionParameters
    }

    var userName = ""
    var role = UserRole.viewer
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await InvitationManagementServiceClient(gateway).createInvitation(
            CreateInvitationRequest(userName: userName, role: role.rawValue))
        return IssuedInvitation(
            invitation: try reply.invitation.present("invitation"), link: reply.link, token: reply.token
        ).reply
    }
}

/// An invitation with its link, which the gateway shows once.
private struct IssuedInvitation: Resource {
    static let columns = ["invitation_id"]
    let invitation: Invitation
    let link: String
    let token: String

    var fields: [ResourceField] { invitation.fields + [.text("token", token), .text("link", link)] }

    var reply: Reply {
        let end = invitation.fields.first { $0.name == "expired_at" }?.text ?? ""
        let place =
            link.isEmpty
            ? """
            /console/#/invitation/\(token)

            Put the address of the console in front of it: the gateway knows none, since identity.public_url is not set.
            """ : link
        return Reply(
            json: json,
            text: """
                \(place)

                With this link, which works once until \(end), \(invitation.userName) chooses a password. It is shown \
                only now.
                """)
    }
}

/// `data-gateway user list-invitations`
struct UserListInvitations: ClientCommand {
    static let name = "list-invitations"
    static let summary = "List the open invitations of the organization"
    static let examples = ["user list-invitations"]

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = InvitationManagementServiceClient(gateway)
        return Reply(
            "invitations",
            try await Pages.all { token in
                let page = try await service.listInvitations(
                    ListInvitationsRequest(pageSize: Pages.size, pageToken: token))
                return (page.invitations, page.nextPageToken)
            })
    }
}

/// `data-gateway user withdraw-invitation`
struct UserWithdrawInvitation: ClientCommand {
    static let name = "withdraw-invitation"
    static let summary = "Withdraw an open invitation (its link stops working with the next call)"
    static let examples = ["user withdraw-invitation 01a207ad-93b5-7000-8719-cab4f82b164f"]

    static var parameters: [Parameter<Self>] {
        [
            .argument("INVITATION_ID", \.invitationID, "The invitation's id, as printed by 'user list-invitations'")
        ] + connectionParameters
    }

    var invitationID = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        _ = try await InvitationManagementServiceClient(gateway).withdrawInvitation(
            WithdrawInvitationRequest(invitationID: invitationID))
        return Reply(
            json: .object([.init(name: "invitation_id", value: .string(invitationID))]),
            text: "withdrew the invitation \(invitationID)")
    }
}

extension Invitation: Resource {
    package static let columns = ["invitation_id", "user_name", "role", "invited_by", "expired_at"]

    package var fields: [ResourceField] {
        [
            .text("invitation_id", invitationID), .text("organization", organization), .text("user_name", userName),
            .text("role", role), .text("invited_by", invitedBy),
            .text("invited_by_organization", invitedByOrganization), .time("created_at", createdAt),
            .time("expired_at", expiredAt),
        ]
    }
}
