import CommandLineInterface
import Proto

/// `data-gateway org update`
struct OrganizationUpdate: ClientCommand {
    static let name = "update"
    static let summary = "Change an organization's display name"

    static var parameters: [Parameter<Self>] {
        [
            .argument("NAME", \.organizationName, "The organization's name"),
            .option("--display-name", "TEXT", \.displayName, "The new display name", isRequired: true),
        ] + connectionParameters
    }

    var organizationName = ""
    var displayName = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await AdminAuthServiceClient(gateway).updateOrganization(
            UpdateOrganizationRequest(organization: organizationName, displayName: displayName))
        return Reply(try reply.organization.present("organization"))
    }
}
