import Wire

/// What the connections of one listener share.
public final class RPCServer: Sendable {
    public let router: Router
    /// Asked in this order.
    public let interceptors: [any Interceptor]
    public let settings: HTTP2Settings
    /// The largest request message, in bytes.
    public let maxMessageSize: Int

    public init(
        router: Router, interceptors: [any Interceptor] = [], settings: HTTP2Settings = HTTP2Settings(),
        maxMessageSize: Int = 4 * 1024 * 1024
    ) {
        self.router = router
        self.interceptors = interceptors
        self.settings = settings
        self.maxMessageSize = maxMessageSize
    }
}

/// The server's side of one connection.
public final class ServerConnection: ConnectionProtocol, HTTP2SessionHost {
    let server: RPCServer
    let loop: any CallLoop
    let peer: PeerAddress
    public var onOutput: () -> Void = {}
    private var session: HTTP2Session?
    private var isShuttingDown = false

    public init(server: RPCServer, loop: any CallLoop, peer: PeerAddress) {
        self.server = server
        self.loop = loop
        self.peer = peer
        session = HTTP2Session(role: .server, settings: server.settings, host: self)
    }

    public func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) { try session?.receive(bytes) }

    public func nextOutput() throws(HTTP2Error) -> UnsafeRawBufferPointer? { try session?.nextOutput() }

    public var isFinished: Bool {
        guard let session else { return true }
        return session.isFinished || (isShuttingDown && session.activeStreams == 0)
    }

    public func shutDown() {
        guard !isShuttingDown else { return }
        // First announced, then a PING's round trip later enforced, so that no call on its way is lost.
        session?.submitShutdownNotice()
        session?.submitPing()
    }

    public func connectionLost() {
        session?.abandon()
        session = nil
    }

    // MARK: HTTP2SessionHost

    public func openStream() -> HTTP2Stream? { ServerCall(connection: self) }

    public func outputPending() { onOutput() }

    public func receivedPingAcknowledgement() {
        isShuttingDown = true
        session?.submitGoAway()
    }
}
