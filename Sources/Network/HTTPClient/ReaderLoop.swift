import Basics
import Dispatch

/// Runs transfers on the threads of those who read their bodies: whoever needs bytes receives them by itself, so that no piece is passed
/// on from one thread to another.
///
/// Nothing arrives while nobody reads.
final class ReaderLoop: TransferRunner, @unchecked Sendable {  // `loop` is used by the thread that has `driver`
    let cache = TransferCache()
    private let poller: TransferPoller
    private let commands: TransferCommands
    private let loop: TransferLoop
    private let driver = DispatchSemaphore(value: 1)

    /// `nil` if the process has no further descriptors or no memory.
    init?() {
        guard let poller = TransferPoller() else { return nil }
        let commands = TransferCommands(poller.event)
        guard let loop = TransferLoop(commands, poller) else {
            poller.close()
            return nil
        }
        self.poller = poller
        self.commands = commands
        self.loop = loop
    }

    deinit {
        cache.close()
        poller.close()
    }

    @discardableResult
    func post(_ command: TransferCommand) -> Bool {
        commands.add(command)
        // The thread that runs the transfers now does this; without one, this thread does.
        while !commands.isEmpty, driver.wait(timeout: .now()) == .success {
            loop.handleCommands()
            driver.signal()
        }
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
            drive { $0.turn() }
            if let result = try step() { return result }
        }
    }

    private func drive(_ body: (TransferLoop) -> Void) {
        driver.wait()
        defer { driver.signal() }
        body(loop)
    }

    /// Lets the thread that runs the transfers look at its step again.
    func wake() { commands.wake() }
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
