import Basics
import Dispatch
import Synchronization

/// Passes an archive from the thread that makes it, which may block, to the call that sends it, which may not.
///
/// It holds one piece that waits and one that is being collected, so memory does not grow with the archive.
final class ChunkPipe: ArchiveSink, Sendable {
    enum Item: Sendable {
        case chunk([UInt8])
        case end(BackupRun.Summary)
    }

    private static let chunkCount = 1 << 18

    private struct State {
        /// The bytes that the writing thread is collecting.
        var gathered: [UInt8] = []
        var waiting: [UInt8]?
        var reader: CheckedContinuation<Item, any Error>?
        var end: Result<Item, any Error>?
        var isCancelled = false
    }

    private let state = Lock(State())
    /// The number of free places for a waiting piece.
    private let places = DispatchSemaphore(value: 1)

    /// - Throws: `CancellationError` if the reader has stopped.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        let isFull = state.withLock { state in
            state.gathered += bytes
            return state.gathered.count >= Self.chunkCount
        }
        if isFull { try flush() }
    }

    /// Ends the archive.
    func finish(_ outcome: Result<BackupRun.Summary, any Error>) {
        let end = outcome.flatMap { summary in
            Result {
                try flush()
                return Item.end(summary)
            }
        }
        let reader = state.withLock { state in
            state.end = end
            return state.waiting == nil ? state.reader.take() : nil
        }
        reader?.resume(with: end)
    }

    /// Returns the next piece or the end, after which it must not be called again.
    func next() async throws -> Item {
        try await withCheckedThrowingContinuation { continuation in
            let result: Result<Item, any Error>? = state.withLock { state in
                if let chunk = state.waiting.take() { return .success(.chunk(chunk)) }
                if let end = state.end { return end }
                state.reader = continuation
                return nil
            }
            guard let result else { return }
            if case .success(.chunk) = result { places.signal() }
            continuation.resume(with: result)
        }
    }

    /// Stops the writer at its next piece; returns when the writer has ended.
    func cancel() async {
        state.withLock { $0.isCancelled = true }
        while case .chunk? = try? await next() {}
    }

    private func flush() throws {
        places.wait()
        let (reader, chunk) = try state.withLock { state in
            if state.isCancelled {
                places.signal()
                throw CancellationError()
            }
            let chunk = state.gathered
            state.gathered = []
            let reader = state.reader.take()
            if reader == nil { state.waiting = chunk }
            return (reader, chunk)
        }
        guard let reader else { return }
        places.signal()
        reader.resume(returning: .chunk(chunk))
    }
}
