import Dispatch
import Foundation

/// The signals SIGTERM, SIGINT and SIGHUP as asynchronous events. Once created, the signals no longer end the process by
/// themselves.
struct Signals: Sendable {
    /// Elements for SIGHUP, which requests a reload.
    let reloads: AsyncStream<Void>
    private let terminations: AsyncStream<Void>
    private let termination: AsyncStream<Void>.Continuation
    /// Safe: set once, and only kept alive after that.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]  // only kept alive

    init() {
        // A write to a closed connection is an error of the connection, not of the process.
        signal(SIGPIPE, SIG_IGN)
        let (terminations, termination) = AsyncStream<Void>.makeStream()
        let (reloads, reload) = AsyncStream<Void>.makeStream()
        self.terminations = terminations
        self.termination = termination
        self.reloads = reloads
        sources = [(SIGTERM, termination), (SIGINT, termination), (SIGHUP, reload)].map { number, continuation in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }

    /// Returns when the first signal to terminate has arrived, or ``terminate()`` was called.
    func untilTermination() async {
        for await _ in terminations { return }
    }

    /// Has the effect of a signal to terminate.
    func terminate() { termination.yield() }

    /// Makes the next signal to terminate end the process at once, because whoever sends a second one does not want to wait.
    func exitAtNext() {
        Task { [terminations] in
            for await _ in terminations { _exit(1) }
        }
    }
}
