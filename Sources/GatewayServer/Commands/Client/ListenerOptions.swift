import CommandLineInterface
import HTTPTypes

/// The options that name a gateway for later commands.
struct ListenerOptions: Sendable {
    var host: GatewayHost?
    var authServer: ListenerEndpoint?
    var server: ListenerEndpoint?
    var tlsName: String?

    static var parameters: [Parameter<Self>] {
        [
            .option(
                "--host", "URL", \.host,
                """
                The gateway's web listener, which names the addresses of the others: [http[s]://]HOST[:PORT] \
                (default port: 50070); without a scheme, https unless it is a loopback address
                """),
            .option(
                "--auth-server", "HOST:PORT", \.authServer,
                """
                The gateway's auth listener (default: $\(ServerAddress.authVariable), else the one of the last login, else \
                127.0.0.1:50051)
                """),
            .option(
                "--server", "HOST:PORT", \.server,
                """
                The admin listener for later commands (default: $\(ServerAddress.adminVariable), else port 50054 of the \
                same host)
                """),
            .option(
                "--tls-name", "NAME", \.tlsName,
                "The name in the certificates of the listeners, if it is not their host, for later commands, too"),
        ]
    }

    /// Whether the options name no listener.
    var isEmpty: Bool { host == nil && authServer == nil }

    /// Returns the listeners that the options, the environment, or the last session name.
    ///
    /// - Returns: a session without a user.
    /// - Throws: `ClientFailure` if the gateway of --host cannot be reached.
    func session(_ environment: CommandEnvironment, last: SignedInSession?) async throws -> SignedInSession {
        guard host == nil || authServer == nil else {
            throw ClientFailure("--host and --auth-server must not be given together", exitCode: .usage)
        }
        let found = try await host?.listeners(environment, ListenerTrust(environment, nil, name: tlsName))
        let auth = try found?.auth ?? ServerAddress.auth(authServer, environment, last)
        // Another sign-in at the same gateway keeps the addresses that --host found.
        let same = found == nil && last?.authServer?.address == auth.address ? last : nil
        var session = SignedInSession(apiToken: "")
        session.authServer = auth.isSecure == nil ? same?.authServer ?? auth : auth
        session.adminServer =
            try server ?? found?.admin ?? ServerAddress.chosenAdmin(nil, environment) ?? same?.adminServer
        session.gatewayServer = found?.gateway ?? same?.gatewayServer
        session.deviceInitServer = found?.deviceInit ?? same?.deviceInitServer
        session.tlsName = tlsName ?? found?.tlsName ?? same?.tlsName
        session.authorities = environment.absoluteAuthorities ?? same?.authorities
        return session
    }
}
