package import CommandLineInterface
package import Proto

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
