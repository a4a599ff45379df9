import CommandLineInterface
import HTTPTypes

/// `data-gateway context add`
struct ContextAdd: Command {
    static let name = "add"
    static let summary = "Add a context for another gateway or user, and select it"
    static let discussion = [
        "'login' signs in to the selected context. DATA_GATEWAY_CONTEXT selects one for a single command."
    ]
    static let examples = [
        "context add plant-2 --host https://plant-2.example.com",
        "context add plant-3 --auth-server plant-3.example.com:50051",
    ]

    static var parameters: [Parameter<Self>] {
        [
            .argument("NAME", \.context, "The name of the context"),
            .option(
                "--host", "URL", \.host,
                "http[s]://HOST[:PORT] of the gateway's web listener (default port: 50070), which names the others"),
            .option("--auth-server", "HOST:PORT", \.authServer, "The gateway's auth listener, instead of --host"),
            .option(
                "--server", "HOST:PORT", \.adminServer,
                "The gateway's admin listener (default: port 50054 of the same host)"),
            .flag("--json", \.json, "Print one JSON object"),
        ]
    }

    var context = ContextName.standard
    var host: GatewayHost?
    var authServer: PeerAddress?
    var adminServer: PeerAddress?
    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: json) {
            let contexts = try Contexts(environment)
            let file = contexts.file(of: context)
            guard try file.read() == nil else {
                throw ClientFailure(
                    "the context \(context.text) exists already: select it with data-gateway context use \(context.text)"
                )
            }
            let needsOne = ClientFailure("context add needs either --host or --auth-server", exitCode: .usage)
            guard host == nil || authServer == nil else { throw needsOne }
            let listeners = try await host?.listeners(environment)
            guard let authServer = listeners?.auth ?? authServer else { throw needsOne }
            try file.write(
                SignedInSession(
                    authServer: "\(authServer)", adminServer: (adminServer ?? listeners?.admin).map { "\($0)" },
                    gatewayServer: listeners?.gateway.map { "\($0)" }, organization: "", userName: "", role: "",
                    accessToken: "", accessTokenExpiresAtUnix: 0, refreshToken: "", refreshTokenExpiresAtUnix: 0))
            try contexts.select(context)
            return Reply(
                ContextRow(name: context, session: try file.read(), isSelected: true))
        }
    }
}
