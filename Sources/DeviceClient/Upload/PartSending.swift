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

/// The uploaded file; reading fails if it has changed since the upload began.
struct PartSource: Sendable {
    let identity: SourceIdentity
    private let file: FileReader

    /// - Throws: `FileReader.Failure`, or `SourceFailure` if it is another file, or has changed.
    init(_ identity: SourceIdentity) throws {
        self.identity = identity
        file = try FileReader(identity.path)
        try verify()
    }

    /// - Throws: `SourceChange` if the file was written to.
    func verify() throws {
        if let change = identity.change(to: try SourceIdentity(file)) { throw SourceChange(identity.path, change) }
    }

    /// Returns the bytes with their digests, ready to be sent.
    func piece(_ range: Range<Int64>) async throws -> StoreClient.Piece {
        try await Worker.disk.run { try verify() }
        guard let piece = try await StoreClient.Piece(reading: range, of: file) else {
            throw SourceChange(identity.path, "became shorter")
        }
        return piece
    }
}

/// The error that a file was written to after its upload began: its parts do not belong together.
package struct SourceChange: Error, Sendable, Hashable, CustomStringConvertible {
    package let path: String
    /// The rest of a sentence that begins with the file.
    package let change: String

    package var description: String { "\(path) \(change)" }

    init(_ path: String, _ change: String) {
        self.path = path
        self.change = change
    }
}

/// The bytes that one attempt to send a piece has reported as sent; they are subtracted when it fails.
final class CountedBytes: Sendable {
    private let total = Lock<Int64>(0)
    private let notice: @Sendable (UploadNotice) -> Void

    init(_ notice: @escaping @Sendable (UploadNotice) -> Void) { self.notice = notice }

    func add(_ count: Int) {
        total.withLock { $0 += Int64(count) }
        notice(.moved(bytes: Int64(count)))
    }

    func takeBack() {
        let counted = total.withLock { total in
            defer { total = 0 }
            return total
        }
        if counted != 0 { notice(.moved(bytes: -counted)) }
    }
}
