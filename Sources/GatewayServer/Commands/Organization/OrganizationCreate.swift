import CommandLineInterface
import Crypto
import Proto

/// `data-gateway org create`
struct OrganizationCreate: ClientCommand {
    static let name = "create"
    static let summary = "Create an organization and its first admin"
    static let discussion = ["Asks twice for the admin's password on the terminal."]

    static var parameters: [Parameter<Self>] {
        [
            .argument("NAME", \.organizationName, "The organization's name"),
            .option("--admin", "USER", \.admin, "The name of the organization's first admin", isRequired: true),
            .option("--display-name", "TEXT", \.displayName, "The organization's display name"),
            .flag(
                "--password-stdin", \.passwordFromStandardInput,
                "Read the admin's password from the first line of standard input"),
        ] + connectionParameters
    }

    var organizationName = ""
    var admin = ""
    var displayName = ""
    var passwordFromStandardInput = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let password = try Password.read(
            fromStandardInput: passwordFromStandardInput, prompt: "Password for \(admin): ", isNew: true)
        let reply = try await AdminAuthServiceClient(gateway).createOrganization(
            CreateOrganizationRequest(
                organization: organizationName, displayName: displayName, bootstrapAdminUserName: admin,
                bootstrapAdminPassword: password.exposedText))
        return Reply(try reply.organization.present("organization"))
    }
}
