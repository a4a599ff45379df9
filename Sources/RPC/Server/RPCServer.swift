import Wire

/// What a listener's clients may ask of it.
public struct RPCLimits: Sendable {
    public var http2 = HTTP2Settings()
    public var lifecycle = LifecycleLimits()
    /// The largest request message, in bytes, also after decompression.
    public var maxMessageSize = 4 * 1024 * 1024
    /// Bytes of request messages that calls under way may hold; calls beyond are refused as UNAVAILABLE.
    public var maxRequestBytes = 128 * 1024 * 1024
    /// How many of those may be for calls of one address: a quarter where none was set, but always a message.
    public var maxRequestBytesPerAddress: Int {
        get { requestBytesPerAddress ?? max(maxMessageSize, maxRequestBytes / 4) }
        set { requestBytesPerAddress = newValue }
    }
    private var requestBytesPerAddress: Int?
    /// Bytes of answers that may wait to be sent; answers of calls beyond are refused as UNAVAILABLE.
    public var maxResponseBytes = 64 * 1024 * 1024
    /// How many of those may be for calls of one address: a quarter where none was set.
    public var maxResponseBytesPerAddress: Int {
        get { responseBytesPerAddress ?? max(1, maxResponseBytes / 4) }
        set { responseBytesPerAddress = newValue }
    }
    private var responseBytesPerAddress: Int?
    /// How many may wait on a connection before its next calls do.
    public var maxResponseBytesPerConnection = 8 * 1024 * 1024
    /// Handlers that may run at once; calls beyond are refused as UNAVAILABLE.
    public var maxHandlers = 10_000
    /// How many of those may be for calls of one address: a quarter where none was set, but always some.
    public var maxHandlersPerAddress: Int {
        get { handlersPerAddress ?? max(100, maxHandlers / 4) }
        set { handlersPerAddress = newValue }
    }
    private var handlersPerAddress: Int?
    /// What calls of methods that wait may take, which are no such handlers.
    public var waiting = WaitingLimits()
    /// Connections that may be open; more are closed at once.
    public var maxConnections = 10_000
    /// Connections that one address may have open.
    public var maxConnectionsPerAddress = 1000

    public init() {}
}

/// What the connections of one listener share.
public final class RPCServer: Sendable {
    public let router: Router
    /// Asked in this order.
    public let interceptors: [any Interceptor]
    public let limits: RPCLimits
    public let metrics: ServerMetrics
    let addresses = AddressShares()
    /// The detail codes of the errors that the server makes by itself.
    let errors: ErrorPolicy
    /// How messages are written in JSON; `nil` = they are not, and who asks for it is refused.
    public let json: JSONMapping?
    /// Which pages of other origins may call; `nil` = none.
    public let crossOrigin: CrossOrigin?

    public init(
        router: Router, interceptors: [any Interceptor] = [], limits: RPCLimits = RPCLimits(),
        metrics: ServerMetrics = ServerMetrics(), errors: ErrorPolicy = .bare, json: JSONMapping? = nil,
        crossOrigin: CrossOrigin? = nil
    ) {
        self.router = router
        self.interceptors = interceptors
        self.limits = limits
        self.metrics = metrics
        self.errors = errors
        self.json = json
        self.crossOrigin = crossOrigin
    }
}
