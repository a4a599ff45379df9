import Basics
import GRPCWire
package import HTTPTypes

/// The origin of calls: a client's connection, with any protocol, and its usage of its listener's limits. Confined to its loop.
package final class CallOrigin {
    /// The number of queued calls from which a connection receives no further ones, and the number at which it receives again.
    private static let queueLimits = (full: 64, low: 16)

    let server: RPCServer
    let loop: any CallLoop
    let peer: PeerAddress
    /// The usage of the listener by the client's address.
    let address: AddressShare
    /// Whether a call may wait for later events; `false` if it occupies a thread meanwhile.
    let mayWait: Bool
    /// The subject of the client's certificate in the TLS handshake; `nil` = none.
    var clientCertificate: String?
    /// The client's calls that wait for their turn and running handlers, also those whose stream was reset: a client cannot have more of
    /// them at once by resetting its streams (CVE-2023-44487).
    private(set) var handlers = 0
    /// The client's calls in progress of waiting methods.
    private(set) var waitingCalls = 0
    /// Called when the connection may receive calls again, after ``hasSpace`` was `false`.
    var onSpace: () -> Void = {}
    /// Bytes of responses that wait to be sent.
    private(set) var queuedBytes = 0
    /// The number of calls that wait for their turn.
    private(set) var queuedCalls = 0
    /// Calls whose handlers start when fewer bytes of responses are waiting.
    private var delayed: [ServerCall] = []
    /// `nil` until a call is refused, and after the connection is lost.
    private var refusals: RefusalPace?
    private var isDisconnected = false
    private var waitsForSpace = false
    private let metrics: ServerMetrics
    /// The lane of the connection for callers who are not known yet.
    private let unknownLane: Lane
    /// The lane of what a proxy's connection sends and receives: it must not wait for one of the proxy's clients. `nil` until the
    /// connection has a call from another address.
    private var transit: Lane?
    /// The caller of the latest admitted call on the connection, whose next calls need not be admitted in the turn of an unknown one.
    private var known: (authorization: [UInt8], owner: WorkOwner, lane: Lane)?

    package init(server: RPCServer, loop: any CallLoop, peer: PeerAddress, mayWait: Bool) {
        self.server = server
        metrics = server.metrics
        self.loop = loop
        self.peer = peer
        self.mayWait = mayWait
        address = server.addresses.share(of: peer.host)
        unknownLane = mayWait ? loop.turns.lane(of: address.owner) : loop.turns.sharedLane(of: address.owner)
    }

    /// Whether this is a connection with lanes of its own, rather than one request.
    private var isConnection: Bool { mayWait }

    /// Whether the client is a proxy that passes on the calls of others.
    var isProxy: Bool { server.isProxy(peer) }

    /// Whether calls from an address are the client's own, rather than passed on by a proxy. The limits of the connection are for own calls:
    /// those of one client of a proxy would keep the proxy's other clients from calling. Limits of addresses are for all.
    func isOwn(_ caller: AddressShare) -> Bool { caller === address }

    private func isOwn(_ call: ServerCall) -> Bool { isOwn(call.address) }

    // MARK: Turns

    /// The lane of what the connection sends and receives.
    var lane: Lane { transit ?? known?.lane ?? unknownLane }

    /// Returns the lane in which the call is admitted.
    func lane(toAdmit call: ServerCall) -> Lane {
        if isConnection, transit == nil, !isOwn(call) {
            transit = loop.turns.lane(of: .program("proxy \(peer.host)"))
        }
        if let known, call.context.metadata.has(known.authorization, under: "authorization") { return known.lane }
        return isOwn(call) ? unknownLane : loop.turns.sharedLane(of: call.address.owner)
    }

    /// Returns the lane in which the call's handler runs; `nil` = the one in which the call was admitted.
    ///
    /// - Parameter lane: the lane in which the call was admitted.
    func otherLane(toRun context: CallContext, admittedIn lane: Lane?) -> Lane? {
        guard let owner = context.workOwner else { return nil }
        if let known, known.owner == owner {
            if lane === known.lane { return nil }
            self.known?.authorization = Self.authorization(of: context)
            return known.lane
        }
        // A proxy's connection has many callers.
        guard isConnection, transit == nil, known?.lane.isIdle ?? true else {
            let shared = loop.turns.sharedLane(of: owner)
            return shared === lane ? nil : shared
        }
        known?.lane.end()
        let own = loop.turns.lane(of: owner)
        known = (Self.authorization(of: context), owner, own)
        return own
    }

    private static func authorization(of context: CallContext) -> [UInt8] {
        Array((context.metadata["authorization"] ?? "").utf8)
    }

    /// Whether the connection may receive a further call. If not, `onSpace` is called when it may.
    var hasSpace: Bool {
        waitsForSpace = queuedCalls >= Self.queueLimits.full
        return !waitsForSpace
    }

    /// Lets the call wait for its turn in the lane.
    func queue(_ call: ServerCall, in lane: Lane) {
        if isOwn(call) { queuedCalls += 1 }
        lane.run(call)
    }

    /// Whether a call that a proxy passes on may wait for its turn: an address has as many at a listener as it may have handlers.
    func mayQueue(_ call: ServerCall) -> Bool {
        isOwn(call) || call.address.passedOn.value < server.limits.maxHandlersPerAddress
    }

    /// Counts a call that waits for its turn or has a handler.
    func countHandler(of call: ServerCall, by change: Int) {
        if isOwn(call) { handlers += change } else { _ = call.address.passedOn.add(change) }
    }

    /// Counts a call of a waiting method; the argument is the address of its caller.
    func countWaitingCall(of caller: AddressShare, by change: Int) {
        if isOwn(caller) { waitingCalls += change }
    }

    /// Reports that the client is disconnected: calls that were to start end at once, and release what they hold.
    package func disconnected() {
        isDisconnected = true
        // The socket, which would receive again, may be gone before the queued calls are.
        onSpace = {}
        startDelayed()
        refusals.take()?.end()
        guard isConnection else { return }
        unknownLane.end()
        known?.lane.end()
        transit?.end()
    }

    /// Whether the call, whose turn it is, may begin, or be refused. If not, it is queued again: when enough of the earlier responses
    /// were sent, or when its refusal is due.
    ///
    /// Checked when the loop handles the call, not when the call arrives: a client may send many in one packet, before the first
    /// has a response.
    func mayBegin(_ call: ServerCall) -> Bool {
        // Until then it counts as queued, so that the connection receives no further calls.
        if call.isRefused, !mayRefuse(call) { return false }
        guard !isDisconnected, isOwn(call), queuedBytes >= server.limits.maxResponseBytesPerConnection
        else { return true }
        server.metrics.limitReached("response_bytes_per_connection")
        left(call)
        delayed.append(call)
        return false
    }

    /// Reports that a call no longer waits for its turn.
    func left(_ call: ServerCall) {
        guard isOwn(call) else { return }
        queuedCalls -= 1
        if waitsForSpace, queuedCalls <= Self.queueLimits.low {
            waitsForSpace = false
            onSpace()
        }
    }

    private func mayRefuse(_ call: ServerCall) -> Bool {
        guard isConnection, !isDisconnected, isOwn(call) else { return true }
        let pace = refusals ?? RefusalPace(on: loop)
        refusals = pace
        return pace.allows(call)
    }

    /// Whether calls had to wait for space for their responses.
    var hasDelayed: Bool { !delayed.isEmpty }

    /// Starts those calls if there is space now.
    func startDelayed() {
        guard isDisconnected || queuedBytes < server.limits.maxResponseBytesPerConnection else { return }
        let calls = delayed
        delayed = []
        for call in calls { queue(call, in: call.lane ?? unknownLane) }
    }

    /// Updates the bytes of waiting responses.
    ///
    /// - Parameter call: the call of the response; `nil` = the request was not a call.
    package func responseBytesChanged(by change: Int, of call: ServerCall?) {
        queuedBytes += change
        if let call { _ = call.address.responseBytes.add(change) } else { _ = address.responseBytes.add(change) }
        _ = metrics.responseBytes.add(change)
    }
}
