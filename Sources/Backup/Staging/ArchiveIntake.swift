import Basics
import Dispatch

/// Passes an archive from the call that receives it, which may not block, to the thread that checks it, which may.
///
/// It holds one piece, so memory does not grow with the archive, and a slow check slows the client.
final class ArchiveIntake<Outcome: Sendable>: ArchiveSource, Sendable {
    private struct State {
        var piece: [UInt8]?
        var isComplete = false
        /// The reason why the client's bytes end early.
        var interruption: (any Error)?
        var outcome: Result<Outcome, any Error>?
        var writer: CheckedContinuation<Bool, Never>?
        var waiter: CheckedContinuation<Outcome, any Error>?
        /// Bytes that the thread has taken and not yet read.
        var rest: ArraySlice<UInt8> = []
    }

    private let state = Lock(State())
    /// Signaled for each piece, and for the end.
    private let arrivals = DispatchSemaphore(value: 0)

    // MARK: The call

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

    /// Makes the thread fail with the error.
    func interrupt(_ error: any Error) {
        state.withLock { $0.interruption = error }
        arrivals.signal()
    }

    /// Waits for the end of the thread.
    func outcome() async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.waiter = continuation }
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
        let (writer, waiter) = state.withLock { state in
            state.outcome = outcome
            return (state.writer.take(), state.waiter.take())
        }
        writer?.resume(returning: false)
        waiter?.resume(with: outcome)
    }

    /// Waits until there are bytes to read.
    ///
    /// - Returns: `false` at the end.
    private func refill() throws -> Bool {
        while state.withLock({ $0.rest.isEmpty && !$0.isComplete }) {
            arrivals.wait()
            let writer = try state.withLock { state in
                if let interruption = state.interruption { throw interruption }
                if let piece = state.piece.take() { state.rest = piece[...] }
                return state.writer.take()
            }
            writer?.resume(returning: true)
        }
        return state.withLock { !$0.rest.isEmpty }
    }
}
