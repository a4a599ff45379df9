import Dispatch
import Foundation

/// SIGTERM, SIGINT and SIGHUP as something to await. From its creation on they do not end the process by themselves.
struct Signals: Sendable {
    /// SIGHUP: read again what can be.
    let reloads: AsyncStream<Void>
    private let terminations: AsyncStream<Void>
    /// Safe: set once, and only held after that.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]  // only kept alive

    init() {
        // A peer that hangs up is an error of its connection, not of the process.
        signal(SIGPIPE, SIG_IGN)
        let (terminations, termination) = AsyncStream<Void>.makeStream()
        let (reloads, reload) = AsyncStream<Void>.makeStream()
        self.terminations = terminations
        self.reloads = reloads
        sources = [(SIGTERM, termination), (SIGINT, termination), (SIGHUP, reload)].map { number, continuation in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }

    /// Returns when the first signal to end has come.
    func termination() async {
        for await _ in terminations { return }
    }

    /// From now on such a signal ends the process at once: who sends a second one does not want to wait.
    func exitAtNext() {
        Task { [terminations] in
            for await _ in terminations { _exit(1) }
        }
    }
}
