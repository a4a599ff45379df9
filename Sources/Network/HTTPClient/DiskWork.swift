import Dispatch

/// Work that waits for a disk: not on the threads that all tasks share, and never on an event loop's.
package enum DiskWork {
    package static func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
}
