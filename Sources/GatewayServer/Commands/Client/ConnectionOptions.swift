import CommandLineInterface
import HTTPTypes

/// What every command says about its way to the gateway, and about its output.
struct ConnectionOptions: Sendable {
    var server: PeerAddress?
    var organization: OrganizationArgument?
    var json = false

    static func parameters(of listener: CommandListener) -> [Parameter<Self>] {
        [
            .option("--server", "HOST:PORT", \.server, listener.help),
            .option(
                "--organization", "NAME", \.organization,
                "Act for another organization than your own; for admins of 'system'"),
            .flag("--json", \.json, "Print one JSON object, fields named as in the .proto files"),
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
            "The gateway's admin listener (default: $\(ServerAddress.adminVariable), else where login went)"
        case .gateway:
            """
            The gateway's gateway listener (default: $\(ServerAddress.gatewayVariable), else port 50053 of where login \
            went)
            """
        }
    }
}
