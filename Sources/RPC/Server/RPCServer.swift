package import Basics
package import HTTP2
import HTTPTypes
import Protobuf
package import ProtobufJSON

/// The limits of a listener.
package struct RPCLimits: Sendable {
    package var http2 = HTTP2Settings()
    package var lifecycle = LifecycleLimits()
    /// The largest request message, in bytes, also after decompression.
    package var maxMessageSize = 4 * 1024 * 1024
    /// The directory of the files that hold long forms while they arrive.
    package var spoolDirectory = "/tmp"
    /// The bytes of request messages that calls in progress may hold; calls above that are refused as UNAVAILABLE.
    package var maxRequestBytes = 128 * 1024 * 1024
    /// The part of them for calls of one address: a quarter by default, but at least one message.
    package var maxRequestBytesPerAddress: Int {
        get { requestBytesPerAddress ?? max(maxMessageSize, maxRequestBytes / 4) }
        set { requestBytesPerAddress = newValue }
    }
    private var requestBytesPerAddress: Int?
    /// The bytes of responses that may wait to be sent; responses above that are refused as UNAVAILABLE.
    package var maxResponseBytes = 64 * 1024 * 1024
    /// The part of them for calls of one address: a quarter by default.
    package var maxResponseBytesPerAddress: Int {
        get { responseBytesPerAddress ?? max(1, maxResponseBytes / 4) }
        set { responseBytesPerAddress = newValue }
    }
    private var responseBytesPerAddress: Int?
    /// The bytes of waiting responses on a connection from which its next calls wait.
    package var maxResponseBytesPerConnection = 8 * 1024 * 1024
    /// The number of concurrent handlers; calls above that are refused as UNAVAILABLE.
    package var maxHandlers = 10_000
    /// The part of them for calls of one address: a quarter by default, but at least 100.
    package var maxHandlersPerAddress: Int {
        get { handlersPerAddress ?? max(100, maxHandlers / 4) }
        set { handlersPerAddress = newValue }
    }
    private var handlersPerAddress: Int?
    /// The limits of waiting methods, whose calls do not count as handlers.
    package var waiting = WaitingLimits()
    /// The number of open connections; others are closed at once.
    package var maxConnections = 10_000
    /// The number of open connections from one address.
    package var maxConnectionsPerAddress = 1000

    package init() {}
}

/// The support of clients that call in JSON, by REST or from a browser.
package struct WebProtocols: Sendable {
    /// The JSON encoding of messages.
    package let json: JSONMapping
    /// The pages of other origins that may call; `nil` = none.
    package let crossOrigin: CrossOrigin?
    /// The source of the time that some forms of REST responses have.
    package let clock: any WallClock

    package init(json: JSONMapping, crossOrigin: CrossOrigin? = nil, clock: any WallClock = SystemClock()) {
        self.json = json
        self.crossOrigin = crossOrigin
        self.clock = clock
    }
}

/// The common configuration and state of the connections of one listener.
package final class RPCServer: Sendable {
    package let router: Router
    /// The interceptors in the order of their calls.
    package let interceptors: [any Interceptor]
    /// Decides which calls are accepted; `nil` = all.
    let admission: (any Admission)?
    /// The proxies whose connections have the calls of many clients.
    private let proxies: TrustedProxies?
    package let limits: RPCLimits
    package let metrics = ServerMetrics()
    let addresses = AddressShares()
    /// The detail codes of errors that the server itself makes.
    let errors: ErrorPolicy
    /// The JSON encoding of messages; `nil` = requests in JSON are refused.
    package let json: JSONMapping?
    /// The REST routes of methods; `nil` = none.
    let rest: RESTRoutes?
    /// The pages of other origins that may call; `nil` = none.
    package let crossOrigin: CrossOrigin?
    /// The source of the time in REST responses.
    let clock: any WallClock
    /// The log for handlers; see ``CallContext/log``.
    let log: Logger

    /// - Parameter interceptors: at most one of them is an ``Admission``.
    package init(
        router: Router, interceptors: [any Interceptor] = [], limits: RPCLimits = RPCLimits(),
        errors: ErrorPolicy = .bare, web: WebProtocols? = nil, log: Logger = .discarding
    ) {
        let admissions = interceptors.compactMap { $0 as? any Admission }
        precondition(admissions.count <= 1, "a server has one admission")
        admission = admissions.first
        proxies = interceptors.lazy.compactMap { $0 as? TrustedProxies }.first
        let router = router.admitting(by: admissions.first)
        self.router = router
        self.interceptors = interceptors
        self.limits = limits
        self.errors = errors
        json = web?.json
        rest = web.flatMap { RESTRoutes(router, $0.json) }
        crossOrigin = web?.crossOrigin
        clock = web?.clock ?? SystemClock()
        self.log = log
    }
}

extension RPCServer {
    /// Starts the call of a request whose header section is complete, or refuses the request.
    ///
    /// - Returns: the receiver of the request's body; `nil` if the response is complete.
    package func open(
        _ head: inout RequestHead, from origin: CallOrigin, on stream: any CallStream
    ) -> ServerCall? {
        if head.isTooLarge { metrics.limitReached("header_list_size") }
        do throws(RequestRefusal) {
            return open(try head.adapt(for: self), &head, from: origin, on: stream)
        } catch {
            if let reason = error.reason { note(reason, head, from: origin) }
            stream.send(error.response)
            return nil
        }
    }

    /// Starts a call of a caller within the process: the request is one message in the protobuf encoding.
    ///
    /// - Parameter encoder: writes the response, and receives the error.
    package func open(
        _ head: inout RequestHead, for encoder: LocalEncoder, from origin: CallOrigin, on stream: any CallStream
    ) -> ServerCall? {
        guard let method = head.method else {
            stream.send(encoder.refuse(.unimplemented("this listener has no method \(head.unknownPath)")))
            return nil
        }
        let request = WholeBodyDecoder(limit: limit(of: method), isCompressed: false)
        let adapted = AdaptedCall(
            method: method, adapter: CallProtocolAdapter(request: .wholeBody(request), response: encoder),
            fault: head.isTooLarge ? .invalidRequest("the metadata exceeds its limit") : nil)
        return open(adapted, &head, from: origin, on: stream)
    }

    func open(
        _ adapted: consuming AdaptedCall, _ head: inout RequestHead, from origin: CallOrigin, on stream: any CallStream
    ) -> ServerCall {
        let method = adapted.method
        let context = CallContext(method.descriptor, head, from: origin, log: log)
        let call = method.call(
            CallSetup(
                context: context, origin: origin, stream: stream, adapter: adapted.adapter, encoding: head.encoding,
                messageLimit: limit(of: method)))
        call.begin(adapted.fault)
        return call
    }

    /// Whether a peer is a proxy that passes on the calls of many clients.
    func isProxy(_ peer: PeerAddress) -> Bool { proxies?.ranges.contain(peer.host) ?? false }

    /// Returns the largest request message of a method, in bytes, also after decompression.
    func limit(of method: any Method) -> Int { method.rules.maximumRequest ?? limits.maxMessageSize }

    /// Counts a request that is not a call, and reports it to the interceptors.
    private func note(_ reason: RefusedRequest.Reason, _ head: RequestHead, from origin: CallOrigin) {
        metrics.requestRefused(reason)
        let path = head.method?.descriptor.path ?? String(head.unknownPath.prefix { $0 != "?" }.prefix(200))
        let request = RefusedRequest(reason: reason, path: path, peer: origin.peer, requestID: head.requestID)
        for interceptor in interceptors { interceptor.refused(request) }
    }
}
