import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol

/// Collects a client's document: of a Complete, a DeleteObjects, or tags.
final class DocumentBody {
    private let maximumBytes: Int
    private var bytes: [UInt8] = []
    private var digest: BodyDigest
    private let share: BlockThreads.Share

    /// - Throws: `malformedXML` if the declared length is above that of any such document, `outOfMemory` if there is no memory for
    ///   it.
    init(_ payload: Payload, _ store: ObjectStore, maximumBytes: Int, for owner: WorkOwner) throws {
        if let length = payload.length, length > maximumBytes { throw CompletionList.malformed }
        self.maximumBytes = maximumBytes
        share = try store.documentShare(length: payload.length, for: owner)
        digest = BodyDigest(payload.checks)
    }

    func receive(_ piece: UnsafeRawBufferPointer) {
        digest.update(piece)
        // One byte above the limit is enough for the reader to refuse it.
        bytes.append(contentsOf: piece.prefix(maximumBytes + 1 - bytes.count))
    }

    /// Returns the complete document.
    ///
    /// - Throws: if it does not match the request's length or checksums.
    func finish() throws -> [UInt8] {
        _ = try digest.finalize()
        return bytes
    }
}

/// A body that is being received into the store.
final class StoreBody: HTTPBodySink {
    private let take: (UnsafeRawBufferPointer) -> Void
    private let complete: () -> HTTPResponse
    private let leave: () -> Void

    init(
        take: @escaping (UnsafeRawBufferPointer) -> Void, complete: @escaping () -> HTTPResponse,
        leave: @escaping () -> Void
    ) {
        self.take = take
        self.complete = complete
        self.leave = leave
    }

    func receive(_ bytes: UnsafeRawBufferPointer) { take(bytes) }
    func finish() -> HTTPResponse { complete() }
    func abandon() { leave() }
}

/// The declared body of a part, with its place among the writers of the part.
struct PartBody {
    let start: PartStart
    /// The body; its error is reported only to clients that may write the part.
    let payload: Result<Payload, StoreError>
}
