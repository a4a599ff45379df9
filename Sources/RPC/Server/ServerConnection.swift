package import HTTP2
package import HTTPTypes

/// The server side of a connection.
package final class ServerConnection: ConnectionProtocol, HTTP2SessionHost {
    /// The time that a client has to answer the PING with which draining begins when the server stops, in nanoseconds.
    private static let drainLimit: UInt64 = 500_000_000
    /// The time in which calls that are received before the end of draining have to begin when the server stops, in nanoseconds. A
    /// balancer repeats no call that got a response, and most clients do not either.
    private static let queueLimit: UInt64 = 2_000_000_000

    /// The purposes of our PINGs; the number is returned in the acknowledgement.
    private enum Ping: UInt8 {
        case keepalive = 1
        case drain = 2
    }

    /// The way to the connection's end.
    private enum Phase {
        case serving
        /// The end was announced; it is enforced after the round trip of a PING, so that calls already sent are not lost.
        case draining
        /// No more calls are accepted.
        case drained
        /// The socket must be closed at once.
        case aborted
    }

    /// The origin of its calls.
    let origin: CallOrigin
    package var onOutput: () -> Void = {}
    package var onSpace: () -> Void {
        get { origin.onSpace }
        set { origin.onSpace = newValue }
    }
    private var session: HTTP2Session?
    private var lifecycle: ConnectionLifecycle
    private var timer: LoopTimer?
    private var phase = Phase.serving
    /// The time at which the server began to stop, and the timer of the next check of progress since; `nil` before that.
    private var stopping: (since: UInt64, timer: LoopTimer?)?
    private var isSocketBlocked = false
    /// Received bytes that wait for the connection's turn, or for space in its queue of calls.
    private var kept: [UInt8] = []

    package init(server: RPCServer, loop: any CallLoop, peer: PeerAddress) {
        origin = CallOrigin(server: server, loop: loop, peer: peer, mayWait: true)
        lifecycle = ConnectionLifecycle(server.limits.lifecycle, jitter: Double.random(in: 0...1), now: loop.now)
        var settings = server.limits.http2
        settings.isProxied = origin.isProxy
        session = HTTP2Session(role: .server, settings: settings, host: self)
        server.metrics.connectionOpened()
        scheduleTick()
    }

    var server: RPCServer { origin.server }

    private var loop: any CallLoop { origin.loop }

    // MARK: ConnectionProtocol

    package var lane: Lane { origin.lane }

    package func receive(_ bytes: UnsafeRawBufferPointer) throws(ConnectionError) -> Reception {
        lifecycle.received(at: now)
        guard let session else { return .complete }
        let count: Int
        do {
            count = try session.receive(bytes)
        } catch {
            throw ConnectionError(error.description)
        }
        guard count < bytes.count else { return .complete }
        kept = Array(UnsafeRawBufferPointer(rebasing: bytes[count...]))
        return origin.hasSpace ? .turnIsOver : .queueIsFull
    }

    package func continueReceiving() throws(ConnectionError) -> Reception {
        guard !kept.isEmpty else { return .complete }
        guard origin.hasSpace else { return .queueIsFull }
        let bytes = kept
        kept = []
        return try bytes.withUnsafeBufferPointer { (bytes) throws(ConnectionError) in
            try receive(UnsafeRawBufferPointer(bytes))
        }
    }

    package func nextOutput() throws(ConnectionError) -> UnsafeRawBufferPointer? {
        if origin.hasDelayed { origin.startDelayed() }
        return try session?.connectionOutput()
    }

    package var isFinished: Bool {
        guard let session else { return true }
        return session.isFinished || (phase == .drained && session.activeStreams == 0)
    }

    package var isAborted: Bool { phase == .aborted }

    package func clientProved(certificate subject: String) { origin.clientCertificate = subject }

    package func socketBlocked(_ isBlocked: Bool) { isSocketBlocked = isBlocked }

    package func shutDown() {
        guard phase == .serving else { return }
        phase = .draining
        lifecycle.shutDown(at: now)
        session?.submitShutdownNotice()
        session?.submitPing(Ping.drain.rawValue)
    }

    package func stop() {
        shutDown()
        stopping = (now, nil)
        for call in calls { call.stop() }
        checkProgress(ProgressWatch(at: now))
    }

    /// Accepts no more calls.
    private func endDraining() {
        guard phase == .draining else { return }
        phase = .drained
        session?.submitGoAway()
        guard stopping != nil else { return }
        for call in calls { call.stop() }
    }

    /// The calls whose streams are open.
    private var calls: [ServerCall] {
        session?.streams.compactMap { ($0 as? HTTP2CallStream)?.call } ?? []
    }

    /// Ends what makes no progress while the server stops: calls, and the connection once it has none.
    private func checkProgress(_ watch: ProgressWatch) {
        stopping?.timer = loop.schedule(at: now &+ ProgressWatch.interval) { [self] in
            guard let session else { return }
            // A client that does not answer the PING may continue to call.
            if let stopping, now &- stopping.since >= Self.drainLimit { endDraining() }
            if let stopping, now &- stopping.since >= Self.queueLimit { for call in calls { call.endIfQueued() } }
            for call in calls { call.endIfIdle(at: now) }
            var watch = watch
            let mark = Int(session.producedBytes) &+ calls.count { $0.isOpen }
            guard watch.isIdle(mark, at: now), !calls.contains(where: \.isOpen) else { return checkProgress(watch) }
            abort()
        }
    }

    /// Closes the connection at once.
    private func abort() {
        phase = .aborted
        onOutput()
    }

    package func connectionLost(_ reason: ConnectionError?) {
        timer?.cancel()
        timer = nil
        stopping?.timer?.cancel()
        stopping?.timer = nil
        session?.abandon()
        session = nil
        origin.disconnected()
        server.metrics.connectionClosed()
    }

    /// Reports that no response bytes are waiting, even if only for a moment.
    func responsesAreSent() { lifecycle.responsesAreSent() }

    // MARK: HTTP2SessionHost

    package var now: UInt64 { loop.now }

    package func openStream() -> HTTP2Stream? {
        guard origin.handlers < Int(server.limits.http2.maxConcurrentStreams) else {
            server.metrics.limitReached("handlers_per_connection")
            return nil
        }
        return HTTP2CallStream(connection: self)
    }

    package func outputPending() { onOutput() }

    package var mayReceiveCalls: Bool { origin.hasSpace && loop.turns.hasTime }

    package func receivedSettings() { lifecycle.handshakeCompleted() }

    package func receivedPingAcknowledgement(_ number: UInt8) {
        if number == Ping.drain.rawValue { endDraining() }
    }

    package func exceeded(_ limit: String) { server.metrics.limitReached(limit) }

    /// Handles a call's header section above the limit.
    func refusedHeaders() { session?.peerSentOversizedHeaders() }

    // MARK: Timers

    /// Looks for responses that are not read. Clients of a proxy lose their streams, any other client the connection.
    private func checkReaders(_ session: HTTP2Session) {
        guard origin.isProxy else { return lifecycle.responsesWait(sent: session.producedBytes, at: now) }
        for stream in session.streams { (stream as? HTTP2CallStream)?.checkReader(at: now) }
    }

    /// Schedules the next tick. The timer keeps a reference to the connection until it is lost.
    private func scheduleTick() {
        timer = loop.schedule(at: now &+ lifecycle.tickInterval) { [self] in tick() }
    }

    private func tick() {
        guard let session else { return }
        // What the client sent, such as the acknowledgement of a PING, may be among the kept bytes.
        if !kept.isEmpty { lifecycle.received(at: now) }
        lifecycle.streamsChanged(session.activeStreams, at: now)
        lifecycle.stalled(session.isWithinHeaderSection || isSocketBlocked, at: now)
        if session.queuedBytes > 0 { checkReaders(session) }
        if server.metrics.holdsRequests {
            for stream in session.streams { (stream as? HTTP2CallStream)?.call?.checkRate(at: now) }
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
            abort()
        }
        scheduleTick()
    }
}
