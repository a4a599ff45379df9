package import CommandLineInterface
package import Proto

/// `data-gateway org list`
struct OrganizationList: ClientCommand {
    static let name = "list"
    static let summary = "List the organizations"

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply("organizations", try await AdminAuthServiceClient(gateway).allOrganizations())
    }
}

extension Organization: Resource {
    package static let columns = ["organization", "display_name", "created_at"]

    package var fields: [ResourceField] {
        [
            .text("organization", organization), .text("display_name", displayName),
            .text("organization_kind", "\(organizationKind)"),
            .time("created_at", createdAt), .time("updated_at", updatedAt),
        ]
    }
}
