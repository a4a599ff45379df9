import Wire

/// What the connections of one listener share.
public final class RPCServer: Sendable {
    public let router: Router
    /// Asked in this order.
    public let interceptors: [any Interceptor]
    public let settings: HTTP2Settings
    public let lifecycle: LifecycleLimits
    /// The largest request message, in bytes.
    public let maxMessageSize: Int
    /// Handlers that may run or wait at once; calls beyond are refused as UNAVAILABLE.
    public let maxHandlers: Int
    /// Connections that one address may have open at this listener.
    public let maxConnectionsPerAddress: Int
    public let metrics: ServerMetrics

    public init(
        router: Router, interceptors: [any Interceptor] = [], settings: HTTP2Settings = HTTP2Settings(),
        lifecycle: LifecycleLimits = LifecycleLimits(), maxMessageSize: Int = 4 * 1024 * 1024,
        maxHandlers: Int = 10_000, maxConnectionsPerAddress: Int = 1000, metrics: ServerMetrics = ServerMetrics()
    ) {
        self.router = router
        self.interceptors = interceptors
        self.settings = settings
        self.lifecycle = lifecycle
        self.maxMessageSize = maxMessageSize
        self.maxHandlers = maxHandlers
        self.maxConnectionsPerAddress = maxConnectionsPerAddress
        self.metrics = metrics
    }
}
