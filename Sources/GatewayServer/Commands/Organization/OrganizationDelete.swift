import Basics
import CommandLineInterface
import JSON
import Proto

/// `data-gateway org delete`
struct OrganizationDelete: ClientCommand {
    static let name = "delete"
    static let summary = "Delete an organization without sites, devices and objects"
    static let discussion = ["The organization may still have one user, who is deleted with it."]

    static var parameters: [Parameter<Self>] {
        [.argument("NAME", \.organizationName, "The organization's name")] + connectionParameters
    }

    var organizationName = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        _ = try await AdminAuthServiceClient(gateway).deleteOrganization(
            DeleteOrganizationRequest(organization: organizationName))
        return .deleted("organization", .string(organizationName), "organization \(organizationName)")
    }
}
