import Basics
import Dispatch
import HTTPClient
import StoreClient
import Synchronization

/// An archive in a bucket as input. It blocks, so it is read on a thread of its own.
final class BucketArchiveSource: ArchiveSource {
    private let store: StoreClient
    private let retrying: Retrying
    /// The size of the archive; `nil` before the first read.
    private var size: Int64?
    private var position: Int64 = 0
    private var fetched: ArraySlice<UInt8> = []

    init(_ store: StoreClient, retrying: Retrying) {
        self.store = store
        self.retrying = retrying
    }

    func read(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            if fetched.isEmpty {
                guard let next = try next() else { break }
                fetched = next[...]
            }
            let piece = fetched.prefix(count - bytes.count)
            bytes += piece
            fetched = fetched.dropFirst(piece.count)
        }
        return bytes
    }

    /// Returns the next bytes; `nil` at the end.
    private func next() throws -> [UInt8]? {
        let size = try size ?? wait { [store] in try await store.head()?.size ?? 0 }
        self.size = size
        let range = position..<min(size, position + StoreClient.maximumContentBytes)
        guard !range.isEmpty else { return nil }
        position = range.upperBound
        return try wait { [store] in try await store.contents(range) }
    }

    private func wait<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) throws -> T {
        let result = Lock<Result<T, any Error>?>(nil)
        let end = DispatchSemaphore(value: 0)
        Task { [retrying] in
            let outcome: Result<T, any Error>
            do {
                outcome = .success(try await retrying.run("read", body))
            } catch {
                outcome = .failure(error)
            }
            result.withLock { $0 = outcome }
            end.signal()
        }
        end.wait()
        guard let outcome = result.withLock({ $0 }) else { throw CancellationError() }
        return try outcome.get()
    }
}
