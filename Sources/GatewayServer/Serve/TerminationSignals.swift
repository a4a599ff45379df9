import Dispatch
import Foundation

/// SIGTERM and SIGINT as something to await. From its creation on they do not end the process by themselves.
struct TerminationSignals {
    private let sources: [any DispatchSourceSignal]
    private let arrivals: AsyncStream<Void>

    init() {
        // A peer that hangs up is an error of its connection, not of the process.
        signal(SIGPIPE, SIG_IGN)
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        arrivals = stream
        sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }

    /// Returns when the first signal has come.
    func first() async {
        for await _ in arrivals { return }
    }

    /// From now on a signal ends the process at once: who sends a second one does not want to wait.
    func exitAtNext() {
        Task { [arrivals] in
            for await _ in arrivals { _exit(1) }
        }
    }
}
