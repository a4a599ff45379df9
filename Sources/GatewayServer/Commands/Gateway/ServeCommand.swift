import Capability
import CommandLineInterface
import Configuration
import HTTPTypes
import Serve

/// `data-gateway serve`
struct ServeCommand: Command {
    static let name = "serve"
    static let summary = "Run the gateway until SIGTERM or SIGINT"
    static let discussion = [
        """
        When every listener accepts connections, one line of JSON on standard output names their addresses (port 0 = any \
        free port); logs go to standard error. In an empty data directory, the gateway creates the organization 'system' with \
        the user 'admin'. The user's password is DATA_GATEWAY_ADMIN_PASSWORD if that is set; otherwise the gateway generates \
        a password and writes it to DIR/initial-admin-password.
        """,
        """
        Exit code 75 means that a restore was requested in the console: the next start replaces the data before it serves.
        """,
    ]

    static var parameters: [Parameter<Self>] {
        [
            .option(
                "--data-dir", "DIR", \.options.dataDirectory, "The data directory, created if it is missing",
                isRequired: true),
            .flag(
                "--take-over", \.options.takesOver,
                "Use the prefix of objects.bucket although a gateway elsewhere that does not renew it has it"),
        ] + ServeOptions.configurationParameters.map { $0.at(\.options) }
    }

    var options = ServeOptions()

    func run(in environment: CommandEnvironment) async -> ExitCode {
        switch await GatewayProcess.run(options, apps: Program.apps, variables: environment.variables) {
        case .orderly: .success
        case .restart: .restart
        case .failure: .refused
        }
    }
}

extension ServeOptions {
    /// The parameters for the gateway's configuration.
    static var configurationParameters: [Parameter<Self>] {
        [.option("--config", "FILE", \.configurationPath, "The configuration file (JSON5)")]
            + ListenerName.allCases.map { listener in
                .option(
                    listener.option, "HOST:PORT", \.[listen: listener.rawValue],
                    "The listener \(listener.offer) (default: \(listener.standardAddress))")
            }
    }
}

extension ListenerName {
    /// The purpose of the listener, as the rest of a sentence that begins with "where".
    fileprivate var offer: String {
        switch self {
        case .auth: "that exchanges keys and passwords for tokens"
        case .gateway: "for uploads and lists of objects"
        case .admin: "for managing sites, devices and users"
        case .internalStorage: "that gives trusted programs access to any object"
        case .deviceInit: "that issues keys to devices"
        case .objectStore: "for the bytes of parts and objects"
        case .web: "for the console, users' calls over HTTP/1.1 and the public keys of access tokens"
        case .apps: "for the calls of apps and their users"
        case .ops: "for /healthz, /readyz and /metrics"
        }
    }
}

extension ServeOptions {
    fileprivate subscript(listen listener: String) -> PeerAddress? {
        get { listen[listener].flatMap { PeerAddress($0) } }
        set { listen[listener] = newValue?.description }
    }
}
