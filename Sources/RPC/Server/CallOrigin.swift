import HTTPTypes

/// Where calls come from: a connection of a client, by whatever protocol, and what it holds of its listener's limits.
/// Confined to its loop.
package final class CallOrigin {
    let server: RPCServer
    let loop: any CallLoop
    /// What the handlers of its calls run in.
    let tasks: HandlerTasks
    let peer: PeerAddress
    /// The share of the listener that the peer's address holds.
    let address: AddressShare
    /// Whether a call may take as long as it likes; not where it holds a thread meanwhile.
    let mayWait: Bool
    /// The subject of the certificate that the client proved to have; `nil` = none.
    var clientCertificate: String?
    /// Handlers that have not ended, also those whose stream was reset: a client cannot have more of them at once by
    /// resetting its streams (CVE-2023-44487).
    var handlers = 0
    /// Calls under way whose method waits.
    var waitingCalls = 0
    /// Bytes of answers that wait to be sent.
    private(set) var queuedBytes = 0
    /// Calls whose handlers start when fewer bytes of answers wait.
    private var delayed: [ServerCall] = []
    private var isGone = false
    private let metrics: ServerMetrics

    package init(server: RPCServer, loop: any CallLoop, peer: PeerAddress, mayWait: Bool) {
        self.server = server
        metrics = server.metrics
        self.loop = loop
        tasks = loop.handlerTasks
        self.peer = peer
        self.mayWait = mayWait
        address = server.addresses.share(of: peer.host)
    }

    /// The client is gone: every call that is still to start finds itself over, and gives back what it holds.
    package func gone() {
        isGone = true
        startDelayed()
    }

    /// Whether the call's handler may begin. If not, it is run again when enough of the answers before it have been sent.
    ///
    /// Asked when the loop comes to the call, not when the call arrives: a client may send many in one piece, before the
    /// first of them has an answer.
    func mayBegin(_ call: ServerCall) -> Bool {
        guard !isGone, queuedBytes >= server.limits.maxResponseBytesPerConnection else { return true }
        server.metrics.limitReached("response_bytes_per_connection")
        delayed.append(call)
        return false
    }

    /// Calls had to wait for room for their answers.
    var hasDelayed: Bool { !delayed.isEmpty }

    /// Starts those calls, where there is room now.
    func startDelayed() {
        guard isGone || queuedBytes < server.limits.maxResponseBytesPerConnection else { return }
        let calls = delayed
        delayed = []
        for call in calls { tasks.run(call) }
    }

    /// Counts bytes of answers that wait, or wait no longer.
    ///
    /// - Parameter call: the call that they answer; `nil` = the request was none.
    package func responseBytesChanged(by change: Int, of call: ServerCall?) {
        queuedBytes += change
        if let call { _ = call.address.responseBytes.add(change) } else { _ = address.responseBytes.add(change) }
        _ = metrics.responseBytes.add(change)
    }
}
