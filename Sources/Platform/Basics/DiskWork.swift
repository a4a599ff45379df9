import Dispatch

/// Runs work that waits for a disk on threads of its own, so that it blocks neither the shared thread pool nor an event loop.
package enum DiskWork {
    package static func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
}
