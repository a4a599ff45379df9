import Basics
import CCurl
import CEpoll
import CLinux
import Glibc
import Synchronization

/// Runs transfers.
protocol TransferRunner: AnyObject, Sendable {
    /// Passes work to the thread that runs the transfers.
    ///
    /// - Returns: false without such a thread, because the process has no further descriptors.
    @discardableResult
    func post(_ command: TransferCommand) -> Bool
}

/// Work for the thread that runs transfers.
enum TransferCommand: Sendable {
    case start(Transfer)
    /// The transfer was paused, and can continue.
    case resume(Transfer)
    case cancel(Transfer)
    /// Closes the connections of a client that is gone.
    case release(TransferCache)
}

/// The work for a ``TransferLoop`` that is not done yet.
final class TransferCommands: Sendable {
    private let waiting = Lock<[TransferCommand]>([])
    /// The descriptor that wakes the thread.
    private let event: Int32

    init(_ event: Int32) {
        self.event = event
    }

    var isEmpty: Bool { waiting.withLock { $0.isEmpty } }

    /// The thread is woken under the lock, and waits there: the one that writes a body continues first, and gets ahead. Otherwise each
    /// piece would pause the transfer, which needs a twentieth more CPU time.
    func add(_ command: TransferCommand) {
        waiting.withLock { commands in
            commands.append(command)
            if commands.count == 1 { wake() }
        }
    }

    func take() -> [TransferCommand] {
        waiting.withLock { commands in
            defer { commands = [] }
            return commands
        }
    }

    func wake() { linux_signal_event(event) }
}

/// A thread that runs the transfers of many exchanges at once. It is started with the first one.
final class TransferThread: TransferRunner {
    /// All threads for transfers of the process.
    static let all = [TransferThread(), TransferThread()]

    private static let worker = Worker.thread("transfers")

    /// `nil` before its start.
    private let commands = Lock<TransferCommands?>(nil)

    @discardableResult
    func post(_ command: TransferCommand) -> Bool {
        guard let commands = commandsOfThread() else { return false }
        commands.add(command)
        return true
    }

    private func commandsOfThread() -> TransferCommands? {
        commands.withLock { commands in
            if let commands { return commands }
            guard let poller = TransferPoller() else { return nil }
            let new = TransferCommands(poller.event)
            Self.worker.post {
                guard let loop = TransferLoop(new, poller) else { preconditionFailure("libcurl has no memory") }
                loop.run()
            }
            commands = new
            return new
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
            if descriptor >= 0 { Glibc.close(descriptor) }
            if event >= 0 { Glibc.close(event) }
            return nil
        }
    }

    func close() {
        Glibc.close(descriptor)
        Glibc.close(event)
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
