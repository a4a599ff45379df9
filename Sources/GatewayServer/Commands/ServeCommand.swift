import CommandLineInterface
import Configuration
import HTTPTypes
import Serve

/// `data-gateway serve`
struct ServeCommand: Command {
    static let name = "serve"
    static let summary = "Run the gateway until SIGTERM or SIGINT ends it"
    static let discussion = [
        """
        When every listener accepts, one line of JSON on standard output names their addresses (port 0 takes a free \
        one); logs go to standard error. On an empty data directory it creates the organization 'system' with the user \
        'admin', whose password is DATA_GATEWAY_ADMIN_PASSWORD if that is set, else one that it writes to \
        DIR/initial-admin-password.
        """
    ]

    static var parameters: [Parameter<Self>] {
        [
            .option(
                "--data-dir", "DIR", \.options.dataDirectory, "Where everything is kept; made if it is missing",
                isRequired: true)
        ] + ServeOptions.configurationParameters.map { $0.at(\.options) }
    }

    var options = ServeOptions()

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await GatewayProcess.run(options, variables: environment.variables) == 0 ? .success : .refused
    }
}

extension ServeOptions {
    /// The parameters that say how the gateway is configured.
    static var configurationParameters: [Parameter<Self>] {
        [.option("--config", "FILE", \.configurationPath, "The configuration, JSON5")]
            + ListenerName.allCases.map { listener in
                .option(
                    listener.option, "HOST:PORT", \.[listen: listener.rawValue],
                    "Where \(listener.offer) (default: \(listener.standardAddress))")
            }
    }
}

extension ListenerName {
    /// What can be had there, as the rest of a sentence that begins with "where".
    fileprivate var offer: String {
        switch self {
        case .auth: "keys and passwords are exchanged for tokens"
        case .gateway: "uploads are opened and objects listed"
        case .admin: "operators manage sites, devices and users"
        case .internalStorage: "trusted programs reach any object"
        case .deviceInit: "devices fetch their keys"
        case .objectStore: "parts and objects are sent and read"
        case .web: "the public keys of access tokens are published"
        case .ops: "/healthz and /readyz answer"
        }
    }
}

extension ServeOptions {
    fileprivate subscript(listen listener: String) -> PeerAddress? {
        get { listen[listener].flatMap { PeerAddress($0) } }
        set { listen[listener] = newValue?.description }
    }
}
