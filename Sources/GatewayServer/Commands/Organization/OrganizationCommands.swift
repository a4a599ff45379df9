import Basics
package import CommandLineInterface
import Crypto
import JSON
package import Proto

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

/// `data-gateway org sign-in`
struct OrganizationSignIn: ClientCommand {
    static let name = "sign-in"
    static let summary = "Show or set how the users of the organization have to sign in"
    static let discussion = [
        """
        Without an option, shows the policy. While a second factor is required, a session that was opened by a password \
        alone can only set one up. Set up your own second factor before you require it of others.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .flag("--require-second-factor", \.requires, "Require a second factor in addition to a password"),
            .flag("--no-require-second-factor", \.requiresNone, "Accept a password alone"),
        ] + connectionParameters
    }

    var requires = false
    var requiresNone = false
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        guard !(requires && requiresNone) else {
            throw ClientFailure(
                "--require-second-factor and --no-require-second-factor must not be given together", exitCode: .usage)
        }
        let client = IdentityManagementServiceClient(gateway)
        guard requires || requiresNone else {
            return Reply(try await client.getSignInPolicy(GetSignInPolicyRequest()).policy.present("policy"))
        }
        let request = SetSignInPolicyRequest(policy: SignInPolicy(requiresSecondFactor: requires))
        return Reply(try await client.setSignInPolicy(request).policy.present("policy"))
    }
}

extension SignInPolicy: Resource {
    package static let columns = ["requires_second_factor"]

    package var fields: [ResourceField] { [.flag("requires_second_factor", requiresSecondFactor)] }
}

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
