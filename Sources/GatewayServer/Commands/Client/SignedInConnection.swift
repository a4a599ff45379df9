import Basics
import Capability
import CommandLineInterface
import DeviceClient
import EventLoops
import GatewayFormats
import HTTPTypes
import Proto
import Synchronization
import Wire

/// A connection to one listener, with the tokens of the signed-in user.
///
/// An expired access token is replaced with the refresh token, and the session file is updated.
final class SignedInConnection: CallTransport {
    /// The environment variable with an API token, which is used instead of a session file.
    static let tokenVariable = "DATA_GATEWAY_TOKEN"

    private let connection: GatewayConnection
    private let loop: EventLoop
    private let organization: String?
    private let file: SessionFile
    private let environment: CommandEnvironment
    private let trust: ListenerTrust
    private let session: Lock<SignedInSession>
    /// Whether the calls are made with an API token, which cannot be refreshed.
    private let isAPIToken: Bool

    /// - Throws: `ClientFailure` if nobody is signed in, or the gateway cannot be reached.
    init(
        _ options: ConnectionOptions, listener: CommandListener, in environment: CommandEnvironment
    ) async throws {
        file = try SessionFile(in: environment)
        let token = environment[Self.tokenVariable]
        isAPIToken = token != nil
        let session = try token.map(SignedInSession.init(apiToken:)) ?? file.signedIn(environment)
        loop = EventLoop(name: "client")
        trust = ListenerTrust(environment, session, name: options.tlsName)
        connection = try await GatewayConnection(
            to: ServerAddress.of(listener, options.server, environment, session), trust: trust, on: loop)
        organization = options.organization?.name
        self.environment = environment
        self.session = Lock(session)
        if !isAPIToken && session.isOver(at: environment.clock.now()) { try await refresh() }
    }

    func unary<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions
    ) async throws -> Output {
        do {
            return try await connection.unary(method, request, options: signed(options))
        } catch let failure as ClientFailure where failure.status == .unauthenticated && !isAPIToken {
            // The gateway ends a token early when its signing key changes; its clock may also be ahead of this machine's.
            try await refresh()
            return try await connection.unary(method, request, options: signed(options))
        }
    }

    func serverStreaming<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions,
        receive: @escaping @Sendable (Output) async throws -> Void
    ) async throws {
        try await connection.serverStreaming(method, request, options: signed(options), receive: receive)
    }

    /// The listeners for devices, as far as the environment and the session name them.
    ///
    /// - Returns: also whether the one that hands keys out is only assumed, beside an auth listener at another port than the default.
    func listenersForDevices() throws(ClientFailure) -> (endpoints: Endpoints, isAssumed: Bool) {
        let session = session.withLock { $0 }
        let listeners = try ServerAddress.forDevices(environment, session)
        let isSecure = session.authServer?.isSecure ?? trust.expectsTLS
        let isAssumed =
            session.deviceInitServer == nil && listeners.auth.address.port != ServerAddress.standard(.auth).port
        return (
            Endpoints(
                auth: listeners.auth.forDevices(orSecure: isSecure),
                gateway: listeners.gateway.forDevices(orSecure: isSecure),
                deviceInit: listeners.deviceInit.forDevices(orSecure: isSecure)), isAssumed
        )
    }

    /// Finds objects by their names, over a connection of its own to the listener for objects.
    func lookup(_ options: ConnectionOptions) -> ObjectLookup { ObjectLookup(options, environment) }

    /// The present time.
    var now: UnixTime { environment.clock.now() }

    /// Writes a line to standard error.
    func report(_ line: String) { environment.errorOutput(line) }

    private func signed(_ options: CallOptions) -> CallOptions {
        var options = options
        options.metadata.append(("authorization", "Bearer \(session.withLock { $0.accessToken })"))
        if let organization { options.metadata.append(("x-organization", organization)) }
        return options
    }

    private func refresh() async throws {
        let old = session.withLock { $0 }
        guard !old.refreshToken.isEmpty, let server = old.authServer else {
            throw ClientFailure.ended(old)
        }
        let reply: RefreshTokenResponse
        do {
            let listener = try await GatewayConnection(
                to: server, trust: trust, option: "login --auth-server", on: loop)
            reply = try await AuthServiceClient(listener).refreshToken(
                RefreshTokenRequest(refreshToken: old.refreshToken))
        } catch let failure as ClientFailure
            where failure.status == .unauthenticated || failure.status == .unimplemented
        {
            throw ClientFailure.ended(old)
        }
        var new = old
        new.accessToken = reply.accessToken
        new.accessTokenExpiresAtUnix = reply.accessTokenExpiresAtUnix
        new.refreshToken = reply.refreshToken
        new.refreshTokenExpiresAtUnix = reply.refreshTokenExpiresAtUnix
        try file.write(new)
        session.withLock { $0 = new }
    }
}

extension ListenerEndpoint {
    /// - Parameter isSecure: whether a listener whose use of TLS is not known is expected to use it.
    fileprivate func forDevices(orSecure isSecure: Bool) -> Endpoints.Endpoint {
        Endpoints.Endpoint(scheme: self.isSecure ?? isSecure ? .https : .http, host: address.host, port: address.port)
    }
}
