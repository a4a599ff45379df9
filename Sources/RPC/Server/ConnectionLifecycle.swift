import Basics

/// How long a server's connection may do what. All times in nanoseconds.
package struct LifecycleLimits: Sendable {
    /// Until the client's preface and SETTINGS are there.
    package var handshake = Duration.seconds(10)
    /// From the first to the last frame of a header section, and from a socket that takes no bytes to one that does; also
    /// the stretch over which `minimumRate` counts.
    package var stall = Duration.seconds(30)
    /// What a client has to take of answers that wait for it all the time, bytes a second; 0 = any byte will do.
    package var minimumRate = 1024
    /// Without a call; 0 = for ever.
    package var idle = Duration.minutes(30)
    /// Without a byte from the client, before it is asked whether it is there (gRFC A8).
    package var keepaliveInterval = Duration.minutes(2)
    /// For its answer.
    package var keepaliveTimeout = Duration.seconds(20)
    /// Until the client is told to connect anew (gRFC A9); each connection's own is up to a tenth more or less. 0 = never.
    package var age = Duration.zero
    /// For calls under way after that.
    package var ageGrace = Duration.minutes(5)

    package init() {}
}

/// When a connection is to be asked for a sign of life, ended in order, or broken off. Pure: time comes in.
package struct ConnectionLifecycle: Sendable {
    package enum Action: Sendable, Equatable {
        case none
        /// Ask whether the client is there.
        case ping
        /// Take no new call, let those under way end.
        case shutDown(String)
        /// Close now; the name is for metrics.
        case abort(String)
    }

    private enum State: Sendable {
        case handshaking(since: UInt64)
        case open
        /// A PING is under way.
        case pinged(at: UInt64)
        case shuttingDown(deadline: UInt64)
    }

    /// The limits in the unit of the loop's clock.
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
    /// Since when answers wait without a pause, at most one stretch ago, and what had been sent then.
    private var waiting: (since: UInt64, sent: UInt64)?
    private var isSlowReader = false

    /// - Parameter jitter: 0 to 1, drawn for each connection, so that those that came together do not leave together.
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

    /// How often `tick` is to be called, in nanoseconds.
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

    /// The first frames came, and were right.
    package mutating func handshakeCompleted() {
        if case .handshaking = state { state = .open }
    }

    /// - Parameter streams: how many are open.
    package mutating func streamsChanged(_ streams: Int, at now: UInt64) {
        if streams > 0 { idleSince = nil } else if idleSince == nil { idleSince = now }
    }

    /// Something waits: a header section for its end, or our bytes for room in the socket or in a flow-control window.
    mutating func stalled(_ isStalled: Bool, at now: UInt64) {
        if !isStalled { stalledSince = nil } else if stalledSince == nil { stalledSince = now }
    }

    /// Answers wait for the client.
    ///
    /// - Parameter sent: bytes of answers so far.
    package mutating func answersWait(sent: UInt64, at now: UInt64) {
        guard let waiting else { return self.waiting = (now, sent) }
        let elapsed = now - waiting.since
        guard elapsed >= limits.stall else { return }
        let least = max(1, Double(minimumRate) * Double(elapsed) / 1e9)
        if Double(sent - waiting.sent) < least { isSlowReader = true } else { self.waiting = (now, sent) }
    }

    /// All answers have been sent, be it for a moment.
    package mutating func answersAreSent() { waiting = nil }

    /// The end was begun by us.
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
