import CommandLineInterface
import Crypto
import EventLoops
import HTTPTypes
import Proto

/// `data-gateway login`
struct Login: Command {
    static let name = "login"
    static let summary = "Sign in for the commands that call the gateway"
    static let discussion = [
        """
        Asks for the password on the terminal. Stores the session in $DATA_GATEWAY_SESSION, else in \
        ~/.config/data-gateway/session.json; only you can read the file. Does not store the password.
        """,
        """
        With --sso, it prints the address at the identity provider and waits for the browser on a loopback address of this \
        machine. With --identity-token-file, a workload such as a CI job signs in with the token of its provider.
        """,
    ]
    static let examples = [
        "login --user admin --host https://gateway.example.com", "login --sso corp",
        "login --identity-token-file /var/run/token",
    ]

    static var parameters: [Parameter<Self>] {
        [
            .option("--user", "NAME", \.userName, "The user's name, for a sign-in with a password"),
            .option("--sso", "PROVIDER", \.provider, "Sign in with a browser at an identity provider of the gateway"),
            .option(
                "--identity-token-file", "FILE", \.tokenFile,
                "Sign in as a service account with a workload's identity token (- = standard input)"),
            .option("--organization", "NAME", \.organization, "The user's organization (default: system)"),
            .flag(
                "--password-stdin", \.passwordFromStandardInput,
                "Read the password from the first line of standard input"),
        ] + ListenerOptions.parameters.map { $0.at(\.listeners) } + [
            .option(
                "--code", "CODE", \.code,
                "The code of your second factor, or a recovery code (default: asks for it on the terminal if it is needed)"
            ),
            .flag("--json", \.json, "Print the user as one JSON object with the field names of the .proto files"),
        ]
    }

    var userName = ""
    var provider = ""
    var tokenFile = ""
    var organization = "system"
    var passwordFromStandardInput = false
    var listeners = ListenerOptions()
    var code: String?
    var json = false

    func run(in environment: CommandEnvironment) async -> ExitCode {
        await environment.report(asJSON: json) { try await signIn(environment) }
    }

    private func signIn(_ environment: CommandEnvironment) async throws -> Reply {
        let file = try SessionFile(in: environment)
        // A session file that cannot be read is replaced.
        let last = try? file.read()
        guard [userName, provider, tokenFile].count(where: { !$0.isEmpty }) == 1 else {
            throw ClientFailure(
                "login needs one of --user NAME, --sso PROVIDER and --identity-token-file FILE", exitCode: .usage)
        }
        try file.checkWritable()
        var session = try await listeners.session(environment, last: last)
        let connection = try await connect(&session, environment, last: last)
        if !tokenFile.isEmpty {
            let reply = try await ProviderLogin(
                service: IdentityServiceClient(connection), environment: environment
            ).exchange(tokenIn: tokenFile)
            session.signIn(reply)
            try file.write(session)
            return Reply(session)
        }
        let reply = try await person(at: connection.endpoint.address, over: connection, environment)
        let user = try reply.user.present("user")
        session.signIn(reply, user)
        try file.write(session)
        return Reply(json: user.json, text: "signed in as \(user.userName) of \(user.organization) (\(user.role))")
    }

    /// Connects to the auth listener of the session, and notes there whether it uses TLS.
    private func connect(
        _ session: inout SignedInSession, _ environment: CommandEnvironment, last: SignedInSession?
    ) async throws -> GatewayConnection {
        guard let server = session.authServer else { throw ClientFailure.notSignedIn }
        do {
            let connection = try await GatewayConnection(
                to: server, trust: ListenerTrust(environment, session), option: "--auth-server",
                on: EventLoop(name: "client"))
            session.authServer = connection.endpoint
            return connection
        } catch let failure as ClientFailure where failure.exitCode == .unreachable && listeners.isEmpty {
            throw ClientFailure(
                "\(failure.message); the address is \(try Self.source(environment, last)): --host names another gateway",
                exitCode: failure.exitCode, status: failure.status)
        }
    }

    /// The place from which the address of the auth listener comes, if no option names it.
    private static func source(
        _ environment: CommandEnvironment, _ last: SignedInSession?
    ) throws(ClientFailure) -> String {
        if environment[ServerAddress.authVariable] != nil { return "that of \(ServerAddress.authVariable)" }
        guard last?.authServer != nil else { return "the default one" }
        guard try !SessionFile(in: environment).isOfDefaultContext(environment) else { return "that of the last login" }
        return "that of the context \(try Contexts(environment).current().text)"
    }

    private func person(
        at address: PeerAddress, over connection: GatewayConnection, _ environment: CommandEnvironment
    ) async throws -> LoginResponse {
        if !provider.isEmpty {
            return try await ProviderLogin(
                service: IdentityServiceClient(connection), environment: environment
            ).signIn(at: provider)
        }
        let password = try Password.read(
            fromStandardInput: passwordFromStandardInput, prompt: "Password of \(userName) at \(address): ")
        return try await login(password, connection)
    }

    /// Signs in with the password, and with a second factor if the user has one.
    private func login(_ password: Secret, _ connection: GatewayConnection) async throws -> LoginResponse {
        do {
            return try await AuthServiceClient(connection).login(
                LoginRequest(organization: organization, userName: userName, password: password.exposedText))
        } catch let failure as ClientFailure where failure.detail == "AUTH_SECOND_FACTOR_REQUIRED" {
            guard let challenge = failure.metadata["challenge"] else { throw failure }
            let prompt = "Code of \(userName)'s authenticator app: "
            let given = try code.map { Secret($0) } ?? Terminal().readHidden(prompt)
            let reply = try await SessionServiceClient(connection).completeLogin(
                CompleteLoginRequest(challenge: challenge, code: given.exposedText))
            return LoginResponse(
                accessToken: reply.accessToken, accessTokenExpiresAtUnix: reply.accessTokenExpiresAtUnix,
                refreshToken: reply.refreshToken, refreshTokenExpiresAtUnix: reply.refreshTokenExpiresAtUnix,
                tokenType: reply.tokenType, user: reply.user)
        }
    }
}

extension SignedInSession {
    /// Takes the token of a workload, which cannot be refreshed: the workload gets another token of its provider.
    fileprivate mutating func signIn(_ reply: ExchangeWorkloadTokenResponse) {
        organization = reply.organization
        userName = reply.userName
        role = "service"
        accessToken = reply.accessToken
        accessTokenExpiresAtUnix = reply.accessTokenExpiresAtUnix
        refreshToken = ""
        refreshTokenExpiresAtUnix = 0
    }

    fileprivate mutating func signIn(_ reply: LoginResponse, _ user: User) {
        organization = user.organization
        userName = user.userName
        role = user.role
        accessToken = reply.accessToken
        accessTokenExpiresAtUnix = reply.accessTokenExpiresAtUnix
        refreshToken = reply.refreshToken
        refreshTokenExpiresAtUnix = reply.refreshTokenExpiresAtUnix
    }
}
