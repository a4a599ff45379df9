import CommandLineInterface
import HTTPTypes

/// What every command says about its way to the gateway, and about its output.
struct ConnectionOptions: Sendable {
    var server: PeerAddress?
    var organization: OrganizationArgument?
    var json = false
    /// The form of lists, for commands that print some.
    var output = OutputOptions()

    static func parameters(of listener: CommandListener) -> [Parameter<Self>] {
        [
            .option("--server", "HOST:PORT", \.server, listener.help),
            .option(
                "--organization", "NAME", \.organization,
                "Act for an organization other than your own (requires an admin of 'system')"),
            .flag("--json", \.json, "Print JSON with the field names of the .proto files"),
        ]
    }
}

/// A listener that commands of a signed-in user go to.
enum CommandListener: Sendable {
    case admin
    case gateway

    fileprivate var help: String {
        switch self {
        case .admin:
            "The admin listener (default: $\(ServerAddress.adminVariable), else the one of the last login)"
        case .gateway:
            """
            The gateway listener (default: $\(ServerAddress.gatewayVariable), else port 50053 of the host of \
            the last login)
            """
        }
    }
}
