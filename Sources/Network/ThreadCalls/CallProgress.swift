import Basics
import CLinux
import Glibc
import HTTPTypes
import RPC
import Synchronization

/// The progress of a call, which its event loop reports to the thread of its HTTP/1.1 connection.
final class CallProgress: Sendable {
    struct State {
        /// The response's status and header fields, once they are known.
        var head: (status: Int, fields: HTTPFields)?
        /// The pieces of the response's body that the thread has not taken yet; none is empty.
        var body: [[UInt8]] = []
        /// The source of the bytes after `body`, which the thread reads; `nil` = none, or it has ended.
        var source: (any BodySource)?
        /// The number of bytes that the thread has read from sources.
        var sourceBytes = 0
        /// Whether the request is a stream of messages.
        var isRequestStream = false
        /// The number of bytes of the request that wait for the call.
        var unsent = 0
        var end: End?
    }

    enum End {
        /// The response is complete.
        case complete
        /// The response ends incomplete, after the bytes that it already has.
        case brokenOff
        /// The response was aborted.
        case broken
    }

    private let state = Lock(State())
    private let event: Int32

    /// Returns `nil` if the process has no free descriptor.
    init?() {
        event = linux_make_event()
        if event < 0 { return nil }
    }

    deinit {
        if event >= 0 { close(event) }
    }

    /// Reads or changes the state from the connection's thread.
    func take<T: Sendable>(_ body: (inout sending State) -> sending T) -> T {
        state.withLock { body(&$0) }
    }

    /// Changes the state from the loop and wakes the thread.
    func update(_ body: (inout sending State) -> Void) {
        state.withLock { body(&$0) }
        linux_signal_event(event)
    }

    /// Waits until `isReady`; returns `false` if the client of `socket` disconnected before that.
    func wait(socket: Int32, until isReady: (State) -> Bool) -> Bool {
        while !state.withLock({ isReady($0) }) {
            guard linux_wait_event(event, socket) else { return false }
        }
        return true
    }
}
