import Basics
import Dispatch

/// Runs transfers on the threads of those who read their bodies: whoever needs bytes receives them by itself, so that no piece is passed
/// on from one thread to another.
///
/// Nothing arrives while nobody reads. Threads that only post commands never wait for the thread that reads, whose result may depend on
/// them.
final class ReaderLoop: TransferRunner, @unchecked Sendable {  // `loop` is used by the thread that took it
    /// The use of the loop by one thread at a time.
    private struct Use {
        var isTaken = false
        var waitingReaders = 0
    }

    /// The longest time until a thread that reads looks at its step again, whatever it waits for.
    private static let longestTurn = Duration.seconds(1)

    let cache = TransferCache()
    let commands: TransferCommands
    private let loop: TransferLoop
    private let use = Lock(Use())
    /// Signaled for each reader that waits for the loop when a thread leaves it.
    private let left = DispatchSemaphore(value: 0)

    /// `nil` if the process has no further descriptors or no memory.
    init?() {
        guard let poller = TransferPoller() else { return nil }
        let commands = TransferCommands(poller.event)
        guard let loop = TransferLoop(commands, poller) else {
            poller.close()
            return nil
        }
        self.commands = commands
        self.loop = loop
    }

    deinit {
        cache.close()
    }

    @discardableResult
    func post(_ command: TransferCommand) -> Bool {
        commands.add(command)
        handlePostedCommands()
        return true
    }

    /// Runs the transfers until `step` has a result, and blocks this thread meanwhile.
    ///
    /// - Parameter transfer: waited for its reader until now.
    func run<T>(resuming transfer: Transfer? = nil, until step: () throws -> T?) rethrows -> T {
        if let result = try step() { return result }
        drive { loop in
            loop.resumeTiming()
            if let transfer { loop.resume(transfer) }
        }
        while true {
            drive { $0.turn(atMost: Self.longestTurn) }
            if let result = try step() { return result }
        }
    }

    /// Lets the thread that runs the transfers look at its step again.
    func wake() { commands.wake() }

    private func drive(_ body: (TransferLoop) -> Void) {
        while !take(orWait: true) { left.wait() }
        body(loop)
        leave()
        handlePostedCommands()
    }

    /// Handles the commands, unless another thread has the loop: that one does it when it leaves.
    private func handlePostedCommands() {
        while !commands.isEmpty, take(orWait: false) {
            loop.handleCommands()
            leave()
        }
    }

    /// - Returns: whether this thread may use the loop, until it calls `leave`.
    private func take(orWait waits: Bool) -> Bool {
        use.withLock { use in
            guard use.isTaken else {
                use.isTaken = true
                return true
            }
            if waits { use.waitingReaders += 1 }
            return false
        }
    }

    private func leave() {
        let waiting = use.withLock { use in
            defer { use = Use() }
            return use.waitingReaders
        }
        for _ in 0..<waiting { left.signal() }
    }
}

/// Reads bodies of responses one after the other, on the thread that calls it; see ``HTTPConnection/makeReader()``.
package final class HTTPBodyReader: Sendable {
    private let connection: HTTPConnection
    /// `nil` if the process has no further descriptors: the bodies arrive on the threads for transfers.
    let loop: ReaderLoop?

    init(_ connection: HTTPConnection, _ loop: ReaderLoop?) {
        self.connection = connection
        self.loop = loop
    }

    deinit {
        if let loop { connection.keep(loop) }
    }

    /// Blocks this thread until a task ends, which may begin downloads with this reader, and returns its result.
    package func result<T: Sendable>(of task: Task<T, any Error>) throws -> T {
        guard let loop else { return try BlockingCall.result(of: task) }
        let result = Lock<Result<T, any Error>?>(nil)
        BlockingCall.whenEnded(task) { value in
            result.withLock { $0 = value }
            loop.wake()
        }
        return try loop.run { result.withLock { $0 } }.get()
    }
}
