import HTTPTypes
import Wire

/// The server's side of one connection.
package final class ServerConnection: ConnectionProtocol, HTTP2SessionHost {
    /// What our PINGs are for; the number comes back in the acknowledgement.
    private enum Ping: UInt8 {
        case keepalive = 1
        case drain = 2
    }

    let server: RPCServer
    let loop: any CallLoop
    let peer: PeerAddress
    /// The subject of the certificate that the client proved to have; `nil` = none.
    private(set) var clientCertificate: String?
    package var onOutput: () -> Void = {}
    package private(set) var isAborted = false
    /// Handlers that have not ended, also those whose stream was reset: a client cannot have more of them at once by
    /// resetting its streams (CVE-2023-44487).
    var handlers = 0
    /// Calls under way whose method waits.
    var waitingCalls = 0
    /// The share of the listener that the peer's address holds.
    let address: AddressShare
    /// Whether a call may take as long as it likes; not where it holds a thread meanwhile.
    let mayWait: Bool
    private var session: HTTP2Session?
    private var lifecycle: ConnectionLifecycle
    private var timer: LoopTimer?
    private var isDraining = false
    private var isDrained = false
    /// Calls whose handlers start when fewer bytes of answers wait.
    private var delayed: [ServerCall] = []
    private var queuedBytes = 0
    private var isSocketBlocked = false

    /// - Parameter mayWait: whether calls may wait for what happens later; not where each holds a thread meanwhile.
    package init(server: RPCServer, loop: any CallLoop, peer: PeerAddress, mayWait: Bool = true) {
        self.server = server
        self.mayWait = mayWait
        address = server.addresses.share(of: peer.host)
        self.loop = loop
        self.peer = peer
        lifecycle = ConnectionLifecycle(server.limits.lifecycle, jitter: Double.random(in: 0...1), now: loop.now)
        session = HTTP2Session(role: .server, settings: server.limits.http2, host: self)
        server.metrics.connectionOpened()
        scheduleTick()
    }

    // MARK: ConnectionProtocol

    package func receive(_ bytes: UnsafeRawBufferPointer) throws(ConnectionError) {
        lifecycle.received(at: now)
        do {
            try session?.receive(bytes)
        } catch {
            throw ConnectionError(error.description)
        }
    }

    package func nextOutput() throws(ConnectionError) -> UnsafeRawBufferPointer? {
        startDelayed()
        do {
            return try session?.nextOutput()
        } catch {
            throw ConnectionError(error.description)
        }
    }

    package var isFinished: Bool {
        guard let session else { return true }
        return session.isFinished || (isDrained && session.activeStreams == 0)
    }

    package func clientProved(certificate subject: String) { clientCertificate = subject }

    package func socketBlocked(_ isBlocked: Bool) { isSocketBlocked = isBlocked }

    package func shutDown() {
        guard !isDraining else { return }
        isDraining = true
        lifecycle.shutDown(at: now)
        // First announced, then a PING's round trip later enforced, so that no call on its way is lost.
        session?.submitShutdownNotice()
        session?.submitPing(Ping.drain.rawValue)
    }

    package func connectionLost(_ reason: ConnectionError?) {
        timer?.cancel()
        timer = nil
        session?.abandon()
        session = nil
        // Each finds its call over, and gives back what it holds.
        startDelayed()
        server.metrics.connectionClosed()
    }

    // MARK: handlers

    /// Whether the call's handler may begin. If not, it is run again when enough of the answers before it have been sent.
    ///
    /// Asked when the loop comes to the call, not when the call arrives: a client may send many in one piece, before the
    /// first of them has an answer.
    func mayBegin(_ call: ServerCall) -> Bool {
        guard session != nil, queuedBytes >= server.limits.maxResponseBytesPerConnection else { return true }
        server.metrics.limitReached("response_bytes_per_connection")
        delayed.append(call)
        return false
    }

    private func startDelayed() {
        guard !delayed.isEmpty else { return }
        guard session == nil || queuedBytes < server.limits.maxResponseBytesPerConnection else { return }
        let calls = delayed
        delayed = []
        for call in calls { loop.handlerTasks.run(call) }
    }

    /// Counts bytes of answers that wait, or wait no longer.
    ///
    /// - Parameter address: what holds them.
    func responseBytesChanged(by change: Int, of address: AddressShare) {
        queuedBytes += change
        if queuedBytes == 0 { lifecycle.answersAreSent() }
        _ = address.responseBytes.add(change)
        _ = server.metrics.responseBytes.add(change)
    }

    // MARK: HTTP2SessionHost

    package var now: UInt64 { loop.now }

    package func openStream() -> HTTP2Stream? {
        guard handlers < Int(server.limits.http2.maxConcurrentStreams) else {
            server.metrics.limitReached("handlers_per_connection")
            return nil
        }
        return ServerCall(connection: self)
    }

    package func outputPending() { onOutput() }

    package func receivedSettings() { lifecycle.shookHands() }

    package func receivedPingAcknowledgement(_ number: UInt8) {
        guard number == Ping.drain.rawValue, isDraining else { return }
        isDrained = true
        session?.submitGoAway()
    }

    package func exceeded(_ limit: String) { server.metrics.limitReached(limit) }

    /// A call's header section was over the limit.
    func refusedHeaders() {
        server.metrics.limitReached("header_list_size")
        session?.peerSentOversizedHeaders()
    }

    // MARK: time

    /// The timer keeps the connection until that is lost.
    private func scheduleTick() {
        timer = loop.schedule(at: now &+ lifecycle.tickInterval) { [self] in tick() }
    }

    private func tick() {
        guard let session else { return }
        lifecycle.streamsChanged(session.activeStreams, at: now)
        lifecycle.stalled(session.isWithinHeaderSection || isSocketBlocked, at: now)
        if session.queuedBytes > 0 { lifecycle.answersWait(sent: session.producedBytes, at: now) }
        if server.metrics.holdsRequests {
            for stream in session.streams { (stream as? ServerCall)?.checkRate(at: now) }
        }
        switch lifecycle.tick(at: now) {
        case .none:
            break
        case .ping:
            session.submitPing(Ping.keepalive.rawValue)
        case .shutDown(let reason):
            server.metrics.limitReached(reason)
            shutDown()
        case .abort(let reason):
            server.metrics.limitReached(reason)
            isAborted = true
            onOutput()
        }
        scheduleTick()
    }
}
