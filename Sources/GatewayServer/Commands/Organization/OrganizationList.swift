import CommandLineInterface
import Proto

/// `data-gateway org list`
struct OrganizationList: ClientCommand {
    static let name = "list"
    static let summary = "List the organizations"

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await AdminAuthServiceClient(gateway).listOrganizations(ListOrganizationsRequest())
        return Reply("organizations", reply.organizations)
    }
}
