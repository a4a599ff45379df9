import Basics
import Wire

/// What a listener's clients may ask of it.
package struct RPCLimits: Sendable {
    package var http2 = HTTP2Settings()
    package var lifecycle = LifecycleLimits()
    /// The largest request message, in bytes, also after decompression.
    package var maxMessageSize = 4 * 1024 * 1024
    /// Bytes of request messages that calls under way may hold; calls beyond are refused as UNAVAILABLE.
    package var maxRequestBytes = 128 * 1024 * 1024
    /// How many of those may be for calls of one address: a quarter where none was set, but always a message.
    package var maxRequestBytesPerAddress: Int {
        get { requestBytesPerAddress ?? max(maxMessageSize, maxRequestBytes / 4) }
        set { requestBytesPerAddress = newValue }
    }
    private var requestBytesPerAddress: Int?
    /// Bytes of answers that may wait to be sent; answers of calls beyond are refused as UNAVAILABLE.
    package var maxResponseBytes = 64 * 1024 * 1024
    /// How many of those may be for calls of one address: a quarter where none was set.
    package var maxResponseBytesPerAddress: Int {
        get { responseBytesPerAddress ?? max(1, maxResponseBytes / 4) }
        set { responseBytesPerAddress = newValue }
    }
    private var responseBytesPerAddress: Int?
    /// How many may wait on a connection before its next calls do.
    package var maxResponseBytesPerConnection = 8 * 1024 * 1024
    /// Handlers that may run at once; calls beyond are refused as UNAVAILABLE.
    package var maxHandlers = 10_000
    /// How many of those may be for calls of one address: a quarter where none was set, but always some.
    package var maxHandlersPerAddress: Int {
        get { handlersPerAddress ?? max(100, maxHandlers / 4) }
        set { handlersPerAddress = newValue }
    }
    private var handlersPerAddress: Int?
    /// What calls of methods that wait may take, which are no such handlers.
    package var waiting = WaitingLimits()
    /// Connections that may be open; more are closed at once.
    package var maxConnections = 10_000
    /// Connections that one address may have open.
    package var maxConnectionsPerAddress = 1000

    package init() {}
}

/// What the connections of one listener share.
package final class RPCServer: Sendable {
    package let router: Router
    /// Asked in this order.
    package let interceptors: [any Interceptor]
    package let limits: RPCLimits
    package let metrics: ServerMetrics
    let addresses = AddressShares()
    /// The detail codes of the errors that the server makes by itself.
    let errors: ErrorPolicy
    /// How messages are written in JSON; `nil` = they are not, and who asks for it is refused.
    package let json: JSONMapping?
    /// The routes of methods over REST; `nil` = none.
    let rest: RESTRoutes?
    /// Which pages of other origins may call; `nil` = none.
    package let crossOrigin: CrossOrigin?
    /// Where handlers log; see ``CallContext/log``.
    let log: Logger

    package init(
        router: Router, interceptors: [any Interceptor] = [], limits: RPCLimits = RPCLimits(),
        metrics: ServerMetrics = ServerMetrics(), errors: ErrorPolicy = .bare, json: JSONMapping? = nil,
        crossOrigin: CrossOrigin? = nil, log: Logger = .discarding
    ) {
        self.router = router
        self.interceptors = interceptors
        self.limits = limits
        self.metrics = metrics
        self.errors = errors
        self.json = json
        rest = json.flatMap { RESTRoutes(router, $0) }
        self.crossOrigin = crossOrigin
        self.log = log
    }
}
