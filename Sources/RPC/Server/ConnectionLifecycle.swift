import Basics

/// The limits on the times and the rate of a server's connection.
package struct LifecycleLimits: Sendable {
    /// The time until the client's preface and SETTINGS are received.
    package var handshake = Duration.seconds(10)
    /// The time from the first to the last frame of a header section, and the time for which a socket may accept no bytes; also the
    /// period over which `minimumRate` is measured.
    package var stall = Duration.seconds(30)
    /// The rate at which a client must receive responses that wait for it all the time, in bytes per second; 0 = any.
    package var minimumRate = 1024
    /// The time without a call; 0 = unlimited.
    package var idle = Duration.minutes(30)
    /// The time without a byte from the client before a keepalive PING is sent (gRFC A8).
    package var keepaliveInterval = Duration.minutes(2)
    /// The time for the acknowledgement of the PING.
    package var keepaliveTimeout = Duration.seconds(20)
    /// The time until the client is told to reconnect (gRFC A9); each connection's own differs by up to a tenth. 0 = unlimited.
    package var age = Duration.zero
    /// The time for calls in progress after that.
    package var ageGrace = Duration.minutes(5)

    package init() {}
}

/// Decides when a connection gets a keepalive PING, is ended in order, or is aborted. A pure function of the passed times.
package struct ConnectionLifecycle: Sendable {
    package enum Action: Sendable, Equatable {
        case none
        /// Send a keepalive PING.
        case ping
        /// Accept no new call, let those in progress end.
        case shutDown(String)
        /// Close the connection at once; the value is the limit's name for metrics.
        case abort(String)
    }

    private enum State: Sendable {
        case handshaking(since: UInt64)
        case open
        /// A PING is not acknowledged yet.
        case pinged(at: UInt64)
        case shuttingDown(deadline: UInt64)
    }

    /// The limits on the loop's clock.
    private struct Nanoseconds: Sendable {
        let handshake: UInt64
        let stall: UInt64
        let idle: UInt64
        let keepaliveInterval: UInt64
        let keepaliveTimeout: UInt64
        let age: UInt64
        let ageGrace: UInt64

        init(_ limits: LifecycleLimits) {
            handshake = limits.handshake.loopTime
            stall = limits.stall.loopTime
            idle = limits.idle.loopTime
            keepaliveInterval = limits.keepaliveInterval.loopTime
            keepaliveTimeout = limits.keepaliveTimeout.loopTime
            age = limits.age.loopTime
            ageGrace = limits.ageGrace.loopTime
        }
    }

    private let limits: Nanoseconds
    private let minimumRate: Int
    private let endOfAge: UInt64
    private var state: State
    private var lastReceived: UInt64
    private var idleSince: UInt64?
    private var stalledSince: UInt64?
    /// The time since which responses are waiting without interruption, at most one period ago, and the number of bytes sent by
    /// then.
    private var waiting: (since: UInt64, sent: UInt64)?
    private var isSlowReader = false

    /// - Parameter jitter: 0 to 1, drawn for each connection, so that connections opened together are not ended together.
    package init(_ limits: LifecycleLimits, jitter: Double, now: UInt64) {
        self.limits = Nanoseconds(limits)
        minimumRate = limits.minimumRate
        let limits = self.limits
        let spread = 0.9 + 0.2 * min(1, max(0, jitter))
        endOfAge = limits.age == 0 ? .max : now + UInt64(Double(limits.age) * spread)
        state = .handshaking(since: now)
        lastReceived = now
        idleSince = now
    }

    /// The interval for calls of `tick`, in nanoseconds.
    package var tickInterval: UInt64 {
        let bounds = [
            limits.handshake, limits.stall, limits.keepaliveInterval, limits.keepaliveTimeout, limits.idle, limits.age,
        ]
        let shortest = bounds.filter { $0 > 0 }.min() ?? 1_000_000_000
        return max(50_000_000, min(5_000_000_000, shortest / 4))
    }

    package mutating func received(at now: UInt64) {
        lastReceived = now
        if case .pinged = state { state = .open }
    }

    /// Reports that the first frames were received and are valid.
    package mutating func handshakeCompleted() {
        if case .handshaking = state { state = .open }
    }

    /// - Parameter streams: the number of open streams.
    package mutating func streamsChanged(_ streams: Int, at now: UInt64) {
        if streams > 0 { idleSince = nil } else if idleSince == nil { idleSince = now }
    }

    /// Reports whether a header section is incomplete, or our bytes wait for the socket or for a flow-control window.
    mutating func stalled(_ isStalled: Bool, at now: UInt64) {
        if !isStalled { stalledSince = nil } else if stalledSince == nil { stalledSince = now }
    }

    /// Reports that responses are waiting for the client.
    ///
    /// - Parameter sent: the number of response bytes sent so far.
    package mutating func responsesWait(sent: UInt64, at now: UInt64) {
        guard let waiting else { return self.waiting = (now, sent) }
        let elapsed = now - waiting.since
        guard elapsed >= limits.stall else { return }
        let least = max(1, Double(minimumRate) * Double(elapsed) / 1e9)
        if Double(sent - waiting.sent) < least { isSlowReader = true } else { self.waiting = (now, sent) }
    }

    /// Reports that all responses are sent, even if only for a moment.
    package mutating func responsesAreSent() { waiting = nil }

    /// Reports that the server began the end.
    mutating func shutDown(at now: UInt64) {
        if case .shuttingDown = state { return }
        state = .shuttingDown(deadline: now + limits.ageGrace)
    }

    package mutating func tick(at now: UInt64) -> Action {
        if let stalledSince, now - stalledSince >= limits.stall { return .abort("stalled") }
        if isSlowReader { return .abort("stalled") }
        switch state {
        case .handshaking(let since):
            return now - since >= limits.handshake ? .abort("handshake_timeout") : .none
        case .pinged(let at):
            return now - at >= limits.keepaliveTimeout ? .abort("keepalive_timeout") : .none
        case .shuttingDown(let deadline):
            return now >= deadline ? .abort("shutdown_timeout") : .none
        case .open:
            if now >= endOfAge {
                shutDown(at: now)
                return .shutDown("max_age")
            }
            if limits.idle > 0, let idleSince, now - idleSince >= limits.idle {
                shutDown(at: now)
                return .shutDown("idle")
            }
            if limits.keepaliveInterval > 0, now - lastReceived >= limits.keepaliveInterval {
                state = .pinged(at: now)
                return .ping
            }
            return .none
        }
    }
}
