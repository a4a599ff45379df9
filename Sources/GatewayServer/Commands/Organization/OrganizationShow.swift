import CommandLineInterface
import Proto

/// `data-gateway org show`
struct OrganizationShow: ClientCommand {
    static let name = "show"
    static let summary = "Show an organization"

    static var parameters: [Parameter<Self>] {
        [.argument("NAME", \.organizationName, "The organization's name")] + connectionParameters
    }

    var organizationName = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await AdminAuthServiceClient(gateway).getOrganization(
            GetOrganizationRequest(organization: organizationName))
        return Reply(try reply.organization.present("organization"))
    }
}
