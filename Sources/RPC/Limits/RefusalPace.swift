import Basics

/// The times at which a connection's calls without a place are refused.
///
/// A client that repeats each refused call at once would otherwise occupy the loop for as long as it likes.
final class RefusalPace {
    /// The time from one refusal to the next, in nanoseconds.
    static let interval: UInt64 = 4_000_000

    private let loop: any CallLoop
    private var waiting = FIFOQueue<ServerCall>()
    /// The call that was queued for its refusal.
    private var due: ServerCall?
    /// The earliest time of the next refusal.
    private var next: UInt64 = 0
    private var timer: LoopTimer?

    init(on loop: any CallLoop) {
        self.loop = loop
    }

    /// Whether the call, whose turn it is, may be refused now. If not, it is queued in its lane again when it is due.
    func allows(_ call: ServerCall) -> Bool {
        guard call.isOpen else {
            // It has ended by its deadline or its client.
            if call === due { due = nil }
            schedule()
            return true
        }
        let now = loop.now
        if call === due || (due == nil && waiting.isEmpty && now >= next) {
            due = nil
            next = now &+ Self.interval
            schedule()
            return true
        }
        waiting.append(call)
        schedule()
        return false
    }

    private func schedule() {
        guard timer == nil, due == nil, !waiting.isEmpty else { return }
        timer = loop.schedule(at: next) { [self] in
            timer = nil
            while let call = waiting.popFirst() {
                let isDue = call.isOpen
                if isDue { due = call }
                call.queueAgain()
                if isDue { break }
            }
        }
    }

    /// Queues all calls that wait, so that they end.
    func end() {
        timer?.cancel()
        timer = nil
        while let call = waiting.popFirst() { call.queueAgain() }
    }
}
