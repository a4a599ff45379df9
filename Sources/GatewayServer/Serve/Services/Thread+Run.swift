import Foundation

extension Thread {
    /// Runs a blocking function on a thread of its own.
    static func run(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                body()
                continuation.resume()
            }
        }
    }
}
