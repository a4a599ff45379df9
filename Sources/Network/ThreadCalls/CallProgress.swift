import Basics
import CLinux
import Glibc
import HTTPTypes

/// How far a call has come: what its event loop tells the thread of its HTTP/1.1 connection.
final class CallProgress: Sendable {
    struct State {
        /// The response's, once it is there.
        var head: (status: Int, fields: HTTPFields)?
        /// Bytes of the response that were not taken yet.
        var body: [UInt8] = []
        /// Bytes of the request that wait for the call.
        var unsent = 0
        var end: End?
    }

    enum End {
        /// The response is whole.
        case complete
        /// It ends before it is whole, behind what it has.
        case brokenOff
        /// It breaks off.
        case broken
    }

    private let state = Lock(State())
    private let event: Int32

    /// `nil` where the process has no descriptor left.
    init?() {
        event = linux_make_event()
        if event < 0 { return nil }
    }

    deinit {
        if event >= 0 { close(event) }
    }

    /// For the thread.
    func take<T: Sendable>(_ body: (inout sending State) -> sending T) -> T {
        state.withLock { body(&$0) }
    }

    /// For the loop: changes the state, and has the thread look at it.
    func update(_ body: (inout sending State) -> Void) {
        state.withLock { body(&$0) }
        linux_signal_event(event)
    }

    /// Waits until `isReady`; returns `false` when the client of `socket` has gone before.
    func wait(socket: Int32, until isReady: (State) -> Bool) -> Bool {
        while !state.withLock({ isReady($0) }) {
            guard linux_wait_event(event, socket) else { return false }
        }
        return true
    }
}
