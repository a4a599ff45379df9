import Basics
import Dispatch
import Synchronization

/// Passes an archive from the call that receives it, which may not block, to the thread that checks it, which may.
///
/// It holds one piece, so memory does not grow with the archive, and a slow check slows the client. When a call ends early, the thread
/// waits for the next call.
final class ArchiveIntake<Outcome: Sendable>: ArchiveSource, Sendable {
    private struct State {
        var piece: [UInt8]?
        var received: Int64 = 0
        var isComplete = false
        var isCanceled = false
        var outcome: Result<Outcome, any Error>?
        var writer: CheckedContinuation<Bool, Never>?
        var waiters: [CheckedContinuation<Outcome, any Error>] = []
        /// Bytes that the thread has taken and not yet read.
        var rest: ArraySlice<UInt8> = []
    }

    private let state = Lock(State())
    /// Signaled for each piece, and for the end.
    private let arrivals = DispatchSemaphore(value: 0)

    // MARK: The calls

    /// The number of bytes that the thread has taken.
    var received: Int64 { state.withLock { $0.received } }

    /// Passes on a piece; returns when the thread has taken it.
    ///
    /// - Returns: `false` if the thread has ended, and ``outcome()`` has the reason.
    func write(_ piece: [UInt8]) async -> Bool {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.outcome != nil { return true }
                state.piece = piece
                state.writer = continuation
                return false
            }
            if isOver { return continuation.resume(returning: false) }
            arrivals.signal()
        }
    }

    /// Ends the archive.
    func finish() {
        state.withLock { $0.isComplete = true }
        arrivals.signal()
    }

    /// Lets the thread fail when it reads on, and waits for its end.
    func cancel() async {
        state.withLock { $0.isCanceled = true }
        arrivals.signal()
        _ = try? await outcome()
    }

    /// Waits for the end of the thread.
    func outcome() async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.waiters.append(continuation) }
                return state.outcome
            }
            if let outcome { continuation.resume(with: outcome) }
        }
    }

    // MARK: The thread

    func read(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count, try refill() {
            state.withLock { state in
                let taken = state.rest.prefix(count - bytes.count)
                bytes += taken
                state.rest = state.rest.dropFirst(taken.count)
            }
        }
        return bytes
    }

    func end(_ outcome: Result<Outcome, any Error>) {
        let (writer, waiters) = state.withLock { state in
            state.outcome = outcome
            defer { state.waiters = [] }
            return (state.writer.take(), state.waiters)
        }
        writer?.resume(returning: false)
        for waiter in waiters { waiter.resume(with: outcome) }
    }

    /// Waits until there are bytes to read.
    ///
    /// - Returns: `false` at the end.
    private func refill() throws -> Bool {
        while try state.withLock({ state in
            if state.isCanceled { throw Staging.discarded }
            return state.rest.isEmpty && !state.isComplete
        }) {
            arrivals.wait()
            let writer = state.withLock { state in
                if let piece = state.piece.take() {
                    state.received += Int64(piece.count)
                    state.rest = piece[...]
                }
                return state.writer.take()
            }
            writer?.resume(returning: true)
        }
        return state.withLock { !$0.rest.isEmpty }
    }
}
