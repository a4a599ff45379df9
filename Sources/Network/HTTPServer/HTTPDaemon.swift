import Basics
import CMicrohttpd
import Dispatch
import Glibc
package import HTTPTypes
package import Sockets
import Synchronization

/// An HTTP/1.1 server on libmicrohttpd with one thread for each connection and a limited number of connections.
///
/// A handler may block its thread for the disk or the database: the server is for bulk data. It serves until it is stopped, and is
/// not freed before.
package final class HTTPDaemon: Sendable {
    package enum StartError: Error, Sendable, Equatable, CustomStringConvertible {
        case listen(ListenError)
        case daemon

        package var description: String {
            switch self {
            case .listen(let error): error.description
            case .daemon: "the HTTP/1.1 server cannot be started: check the limits of memory and threads"
            }
        }
    }

    /// The numeric address in use; `port` is the actual port.
    package let host: String
    package let port: UInt16
    let configuration: HTTPServerConfiguration
    let handler: any HTTPRequestHandler
    let places: RequestPlaces
    private let inFlight = DispatchGroup()
    private let connections = HTTPConnections()
    private let watch = Watch()
    private let stopping = Atomic(false)
    /// Whether the listening thread has the priority that the threads of connections inherit.
    private let hasLoweredPriority = Atomic(false)
    /// The library's daemon; `nil` after the stop.
    private let native = Lock<NativeDaemon?>(nil)

    /// Listens on `host` (a numeric IPv4 or IPv6 address, or a name) and `port` (0 = a free port).
    package init(
        host: String, port: UInt16, configuration: HTTPServerConfiguration = .init(), handler: any HTTPRequestHandler
    ) throws(StartError) {
        self.configuration = configuration
        self.handler = handler
        places = RequestPlaces(limit: configuration.requestsAtWork) { [metrics = configuration.metrics] in
            metrics.limitReached("requests_at_work")
        }
        let listener: ListeningSocket
        do {
            listener = try ListeningSocket(PeerAddress(host: host, port: Int(port)))
        } catch {
            throw .listen(error)
        }
        self.host = listener.address.host
        self.port = UInt16(listener.address.port)
        let context = Unmanaged.passRetained(self)
        var options = microhttpd_options(configuration, listener)
        options.context = context.toOpaque()
        Self.receiveRequests(&options)
        Self.receiveConnections(&options)
        guard let daemon = microhttpd_start(&options) else {
            close(listener.descriptor)
            context.release()
            throw .daemon
        }
        native.withLock { $0 = NativeDaemon(pointer: daemon) }
        if configuration.minimumRate > 0 {
            watch.start(every: min(configuration.slowGrace, configuration.headerTimeout) / 4) { [self] in cutSlow() }
        }
    }

    /// Whether a connection may be accepted; called by the listening thread, before the connection gets a thread.
    private func admits(_ host: String) -> Bool {
        if configuration.niceness > 0, !hasLoweredPriority.exchange(true, ordering: .relaxed) {
            ThreadPriority.lower(to: configuration.niceness)
        }
        guard let limit = configuration.maximumConnectionsPerAddress, connections.count(from: host) >= limit,
            !configuration.proxies.contain(host)
        else { return true }
        configuration.metrics.limitReached("connections_per_address")
        return false
    }

    private func opened(_ native: OpaquePointer) -> DaemonConnection {
        let rule = TransferRule(
            minimumRate: configuration.minimumRate, grace: configuration.slowGrace,
            headerTimeout: configuration.headerTimeout, now: .now)
        let connection = DaemonConnection(
            native, proxies: configuration.proxies, identity: configuration.certificates?.identity, rule: rule,
            idleTimeout: configuration.idleTimeout)
        connections.add(connection)
        configuration.metrics.connectionOpened()
        return connection
    }

    private func closed(_ connection: DaemonConnection) {
        connections.remove(connection)
        configuration.metrics.connectionClosed()
    }

    /// Cuts off the connections of clients that are too slow, and counts each once.
    func cutSlow(at now: ContinuousClock.Instant = .now) {
        for _ in 0..<connections.cutSlow(at: now) { configuration.metrics.limitReached("slow_client") }
    }

    var isSecure: Bool { configuration.certificates != nil }

    var isStopping: Bool {
        stopping.load(ordering: .relaxed)
    }

    /// Waits at most `limit` for the requests in progress, and cuts off those whose clients neither send nor receive anything.
    private func drain(_ limit: Duration) {
        connections.beginDrain()
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            let step = min(end - .now, .milliseconds(250))
            if inFlight.wait(timeout: .now() + .nanoseconds(Int(clamping: step.nanoseconds))) == .success { return }
            _ = connections.cutSlow(at: .now)
        }
    }

    /// Stops accepting, waits at most `limit` for the requests in progress, then closes all connections. Those whose clients do
    /// nothing end within two seconds. Blocks; a second call does nothing.
    package func stop(drainingFor limit: Duration) {
        guard !stopping.exchange(true, ordering: .acquiringAndReleasing) else { return }
        guard let daemon = native.withLock({ $0.take() }) else { return }
        watch.stop()
        let listener = MHD_quiesce_daemon(daemon.pointer)
        places.close()
        drain(limit)
        MHD_stop_daemon(daemon.pointer)
        if listener >= 0 {
            close(listener)
        }
        Unmanaged.passUnretained(self).release()
    }
}

// MARK: libmicrohttpd's callbacks

extension HTTPDaemon {
    /// Sets the functions for the begin, the pieces and the end of a request. The library keeps the exchange meanwhile.
    private static func receiveRequests(_ options: inout microhttpd_options) {
        options.request_line = { context, target, connection in
            guard let context, let target, connection != nil else { return nil }
            let daemon = Unmanaged<HTTPDaemon>.fromOpaque(context).takeUnretainedValue()
            daemon.inFlight.enter()
            return Unmanaged.passRetained(HTTPExchange(target: target, daemon: daemon)).toOpaque()
        }
        options.request = { _, connection, _, method, version, piece, pieceSize, exchange in
            guard let connection, let method, let version, let exchange = exchange?.pointee else { return .NO }
            let bytes = UnsafeRawBufferPointer(start: piece, count: piece == nil ? 0 : pieceSize?.pointee ?? 0)
            pieceSize?.pointee = 0
            return Unmanaged<HTTPExchange>.fromOpaque(exchange).takeUnretainedValue().advance(
                connection, method: method, version: version, piece: bytes)
        }
        options.completed = { context, connection, exchange, end in
            guard let context, let ended = exchange?.pointee else { return }
            exchange?.pointee = nil
            let progress = connection.flatMap { DaemonConnection.of($0) }
            progress?.enter(.waiting, isNew: true)
            Unmanaged<HTTPExchange>.fromOpaque(ended).takeRetainedValue().ended(
                isWhole: end == .REQUEST_TERMINATED_COMPLETED_OK || progress?.hasSentBody == true)
            Unmanaged<HTTPDaemon>.fromOpaque(context).takeUnretainedValue().inFlight.leave()
        }
    }

    /// Sets the functions for the begin and the end of a connection.
    private static func receiveConnections(_ options: inout microhttpd_options) {
        options.admit = { context, address, _ in
            guard let context, let address else { return .NO }
            let daemon = Unmanaged<HTTPDaemon>.fromOpaque(context).takeUnretainedValue()
            return daemon.admits(DaemonConnection.host(of: address)) ? .YES : .NO
        }
        options.connection = { context, connection, held, event in
            guard let context, let connection, let held else { return }
            let daemon = Unmanaged<HTTPDaemon>.fromOpaque(context).takeUnretainedValue()
            if event == .CONNECTION_NOTIFY_STARTED {
                held.pointee = Unmanaged.passRetained(daemon.opened(connection)).toOpaque()
            } else if let ended = held.pointee {
                held.pointee = nil
                daemon.closed(Unmanaged<DaemonConnection>.fromOpaque(ended).takeRetainedValue())
            }
        }
    }
}

extension microhttpd_options {
    /// The limits of the configuration.
    fileprivate init(_ configuration: HTTPServerConfiguration, _ listener: borrowing ListeningSocket) {
        self.init()
        listening_socket = listener.descriptor
        ipv6 = listener.isIPv6
        connection_memory = configuration.connectionMemory
        memory_increment = configuration.connectionMemory / 4
        stack_size = 1 << 20
        connections = configuration.maximumConnections
        secure = configuration.certificates != nil
        idle_seconds = UInt32(clamping: configuration.idleTimeout.wholeSeconds)
    }
}

/// The library's handle. Sendable: libmicrohttpd locks its shared state, and the handle has one owner at a time.
private struct NativeDaemon: @unchecked Sendable {  // libmicrohttpd locks inside
    let pointer: OpaquePointer
}

/// Calls a function periodically, on its own queue, until it is stopped.
final class Watch: Sendable {
    /// Sendable: Dispatch's sources may be used by any thread.
    private struct Source: @unchecked Sendable {  // Dispatch locks inside
        let timer: any DispatchSourceTimer
    }

    private let queue = DispatchQueue(label: "http.watch")
    private let timer = Lock<Source?>(nil)

    func start(every interval: Duration, _ body: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeTimerSource(queue: queue)
        source.schedule(deadline: .now(), repeating: interval / .seconds(1))
        source.setEventHandler(handler: body)
        source.activate()
        timer.withLock { $0 = Source(timer: source) }
    }

    /// Stops the calls, and returns when none is in progress any more.
    func stop() {
        timer.withLock { $0.take() }?.timer.cancel()
        queue.sync {}
    }
}
