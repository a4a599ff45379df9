package import Dispatch

/// Runs work that waits for a disk on threads of its own, so that it blocks neither the shared thread pool nor an event loop.
package enum DiskWork {
    package static func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await DispatchQueue.global().result(of: body)
    }
}

extension DispatchQueue {
    /// Runs `body` on the queue, and returns its result.
    package func result<T: Sendable>(of body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            async { continuation.resume(with: Result(catching: body)) }
        }
    }
}
