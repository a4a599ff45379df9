import Basics
import CommandLineInterface
import HTTPTypes

/// The options for the connection and the output that every such command has.
struct ConnectionOptions: Sendable {
    var server: ListenerEndpoint?
    var tlsName: String?
    var organization: OrganizationArgument?
    var json = false
    /// The form of lists, for commands that print them.
    var output = OutputOptions()

    static func parameters(of listener: CommandListener) -> [Parameter<Self>] {
        [
            .option("--server", "HOST:PORT", \.server, listener.help),
            .option(
                "--tls-name", "NAME", \.tlsName,
                "The name in the listener's certificate, if it is not the host (default: $\(ListenerTrust.nameVariable))"
            ),
            .option(
                "--organization", "NAME", \.organization,
                "Act for an organization other than your own (requires an admin of 'system')"),
            .flag("--json", \.json, "Print JSON with the field names of the .proto files"),
        ]
    }
}

/// A listener for the commands of a signed-in user.
enum CommandListener: Sendable {
    case admin
    case auth
    case gateway

    fileprivate var help: String {
        switch self {
        case .admin:
            "The admin listener (default: $\(ServerAddress.adminVariable), else the one of the last login)"
        case .auth:
            "The auth listener (default: $\(ServerAddress.authVariable), else the one of the last login)"
        case .gateway:
            """
            The gateway listener (default: $\(ServerAddress.gatewayVariable), else port 50053 of the host of \
            the last login)
            """
        }
    }
}

/// The name of an organization, which is sent as metadata: an unsuitable text is refused before the call.
struct OrganizationArgument: ArgumentValue, Hashable, Sendable {
    let name: String

    init(argument: String) throws(ArgumentProblem) {
        guard !argument.isEmpty, argument.unicodeScalars.allSatisfy({ !$0.isUnprintable }),
            argument.first != " ", argument.last != " "
        else {
            throw ArgumentProblem(
                "must be a name that is not empty and has no control characters or surrounding spaces")
        }
        name = argument
    }
}
