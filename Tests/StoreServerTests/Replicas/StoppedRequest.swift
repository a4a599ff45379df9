import Basics
import Dispatch
import Foundation
import TestSupport

/// A request on a thread of its own, which stops before each of its calls of the database, and continues when the test says so.
final class StoppedRequest: Sendable {
    private static let name = "stopped-request"

    private let stopped = DispatchSemaphore(value: 0)
    private let resumed = DispatchSemaphore(value: 0)
    private let result = Lock<Result<String?, any Error>?>(nil)

    private init() {}

    /// Begins a request, which stops at once.
    static func begin(_ body: @escaping @Sendable () throws -> String?) -> StoppedRequest {
        let request = StoppedRequest()
        _ = TestThread {
            Thread.current.threadDictionary[name] = request
            guard (try? request.resumed.waitForSignal()) != nil else { return }
            let result = Result { try body() }
            request.result.withLock { $0 = result }
            request.stopped.signal()
        }
        return request
    }

    /// Stops the request of this thread, if it is one; called before each call of the database.
    static func stop() {
        guard let request = Thread.current.threadDictionary[name] as? StoppedRequest else { return }
        request.stopped.signal()
        try? request.resumed.waitForSignal()
    }

    /// Lets the request run to its next call of the database.
    ///
    /// - Returns: its result; `nil` if it has not ended.
    func proceed() throws -> Result<String?, any Error>? {
        resumed.signal()
        try stopped.waitForSignal()
        return result.withLock { $0 }
    }
}
