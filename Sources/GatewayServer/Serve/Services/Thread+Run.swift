import Foundation

extension Thread {
    /// Runs what blocks on a thread of its own, and returns when it has.
    static func run(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                body()
                continuation.resume()
            }
        }
    }
}
