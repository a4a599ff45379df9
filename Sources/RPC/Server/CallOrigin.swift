import HTTPTypes

/// The origin of calls: a client's connection, with any protocol, and its usage of its listener's limits. Confined to its loop.
package final class CallOrigin {
    let server: RPCServer
    let loop: any CallLoop
    /// The tasks that run the handlers of its calls.
    let tasks: HandlerTasks
    let peer: PeerAddress
    /// The usage of the listener by the client's address.
    let address: AddressShare
    /// Whether a call may wait for later events; `false` if it occupies a thread meanwhile.
    let mayWait: Bool
    /// The subject of the client's certificate in the TLS handshake; `nil` = none.
    var clientCertificate: String?
    /// Running handlers, also those whose stream was reset: a client cannot have more of them at once by resetting its streams
    /// (CVE-2023-44487).
    var handlers = 0
    /// Calls in progress of waiting methods.
    var waitingCalls = 0
    /// Bytes of responses that wait to be sent.
    private(set) var queuedBytes = 0
    /// Calls whose handlers start when fewer bytes of responses are waiting.
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

    /// Reports that the client is disconnected: calls that were to start end at once, and release what they hold.
    package func gone() {
        isGone = true
        startDelayed()
    }

    /// Whether the call's handler may begin. If not, it is run again when enough of the earlier responses were sent.
    ///
    /// Checked when the loop handles the call, not when the call arrives: a client may send many in one packet, before the first
    /// has a response.
    func mayBegin(_ call: ServerCall) -> Bool {
        guard !isGone, queuedBytes >= server.limits.maxResponseBytesPerConnection else { return true }
        server.metrics.limitReached("response_bytes_per_connection")
        delayed.append(call)
        return false
    }

    /// Whether calls had to wait for space for their responses.
    var hasDelayed: Bool { !delayed.isEmpty }

    /// Starts those calls if there is space now.
    func startDelayed() {
        guard isGone || queuedBytes < server.limits.maxResponseBytesPerConnection else { return }
        let calls = delayed
        delayed = []
        for call in calls { tasks.run(call) }
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
