import Basics
import HTTPClient
import StoreClient
import Synchronization

/// Sends parts over several connections at once. On each, the next part is read and hashed while the previous one is sent.
struct PartSending: Sendable {
    let source: PartSource
    let multipart: String
    let store: AttemptStore
    let run: UploadRun

    /// Returns when every part is acknowledged and recorded in the ledger.
    func send(_ missing: [PartRange]) async throws {
        let queue = PartQueue(missing)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<min(run.transfer.parallel, missing.count) {
                group.addTask { try await sendAll(of: queue, over: HTTPConnection(run.transfer.connection)) }
            }
            // The first error cancels the others, and waits for them.
            try await group.waitForAll()
        }
        try source.verify()
    }

    private func sendAll(of queue: PartQueue, over connection: HTTPConnection) async throws {
        var ready = try await prepared(queue.next())
        while let (part, piece) = ready {
            async let upcoming = prepared(queue.next())
            let stored = try await send(part, piece, over: connection)
            try await run.ledger.record(.acknowledged(part: stored))
            run.notice(.acknowledged(part: part.number, bytes: stored.size))
            ready = try await upcoming
        }
    }

    private func prepared(_ part: PartRange?) async throws -> (PartRange, StoreClient.Piece)? {
        guard let part else { return nil }
        return (part, try await source.piece(part.bytes))
    }

    private func send(
        _ part: PartRange, _ piece: StoreClient.Piece, over connection: HTTPConnection
    ) async throws -> StorePart {
        try await run.transfer.retrying.run("part \(part.number)") {
            let counted = CountedBytes(run.notice)
            do {
                return try await store.run(over: connection) {
                    try await $0.put(part: part.number, of: multipart, piece) { counted.add($0) }
                }
            } catch {
                counted.takeBack()
                // The bytes differ from the announced digest: a transmission error, or the file was written to.
                try source.verify()
                throw error
            }
        }
    }
}

/// The parts that no connection has taken yet.
private final class PartQueue: Sendable {
    private let rest: Lock<ArraySlice<PartRange>>

    init(_ parts: [PartRange]) { rest = Lock(parts[...]) }

    func next() -> PartRange? { rest.withLock { $0.popFirst() } }
}
