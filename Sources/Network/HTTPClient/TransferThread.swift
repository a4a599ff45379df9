import Basics
import CCurl
import CEpoll
import CLinux
import Glibc
import Synchronization

/// A thread that runs the transfers of many exchanges at once. It is started with the first one.
final class TransferThread: Sendable {
    /// Work for the thread.
    enum Command: Sendable {
        case start(Transfer)
        /// The transfer was paused, and can continue.
        case resume(Transfer)
        case cancel(Transfer)
        /// Closes the connections of a client that is gone.
        case release(TransferCache)
    }

    private struct State {
        var commands: [Command] = []
        /// The descriptor that wakes the thread; `nil` before its start.
        var event: Int32?
    }

    /// All threads for transfers of the process.
    static let all = [TransferThread(), TransferThread()]

    private static let worker = Worker.thread("transfers")

    private let state = Lock(State())

    /// Passes work to the thread.
    ///
    /// - Returns: false if the thread does not run, because the process has no further descriptors.
    @discardableResult
    func post(_ command: Command) -> Bool {
        var created: TransferPoller?
        let isAccepted = state.withLock { state in
            if state.event == nil {
                guard let poller = TransferPoller() else { return false }
                created = poller
                state.event = poller.event
            }
            state.commands.append(command)
            if state.commands.count == 1, let event = state.event { linux_signal_event(event) }
            return true
        }
        if let poller = created {
            Self.worker.post { [self] in
                guard let loop = TransferLoop(self, poller) else { preconditionFailure("libcurl has no memory") }
                loop.run()
            }
        }
        return isAccepted
    }

    func takeCommands() -> [Command] {
        state.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
    }
}

/// The descriptors with which a thread waits for sockets and for work.
struct TransferPoller: Sendable {
    let descriptor: Int32
    let event: Int32

    /// `nil` if the process has no further descriptors.
    init?() {
        descriptor = poller_create()
        event = linux_make_event()
        guard descriptor >= 0, event >= 0, poller_watch(descriptor, event, true, false) == 0 else {
            if descriptor >= 0 { close(descriptor) }
            if event >= 0 { close(event) }
            return nil
        }
    }
}

/// The kept connections and TLS sessions of one client on one thread.
final class TransferCache: @unchecked Sendable {  // used by the thread only
    private var share: UnsafeMutableRawPointer?

    /// libcurl's object; `nil` without memory.
    func pointer() -> UnsafeMutableRawPointer? {
        if share == nil { share = curl_make_cache() }
        return share
    }

    /// Closes all kept connections.
    func close() {
        if let share { curl_share_cleanup(share) }
        share = nil
    }
}
