import Dispatch
import Glibc

/// Converts SIGINT and SIGTERM into the cancellation of an operation, which then ends in order and can be resumed.
package enum Interruption {
    /// Runs `body`; the first signal cancels it, the second one ends the process at once.
    package static func cancelling<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) async -> Result {
        let task = Task { await body() }
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                task.cancel()
                signal(number, SIG_DFL)
            }
            source.resume()
            return source
        }
        let result = await task.value
        for source in sources { source.cancel() }
        return result
    }
}
