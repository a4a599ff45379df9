import Basics
import HTTPTypes
import ObjectStore
import StoreProtocol

/// The receiver of a request's body, decoded from its framing.
protocol StoreBodyReceiver {
    func receive(_ bytes: UnsafeRawBufferPointer)

    /// Called after the last byte.
    func finish() throws -> HTTPResponse

    /// Called when the body ends early, and may be called after `finish`.
    func abandon()
}

/// A body that is being received into the store.
final class StoreBody: HTTPBodySink {
    private let receiver: any StoreBodyReceiver
    /// The decoder of a body in signed chunks; `nil` = the body is sent as it is.
    private let chunks: AWSChunkReader?
    private let failed: (any Error) -> HTTPResponse
    private var failure: (any Error)?

    /// - Parameter failed: makes the response for an error.
    init(_ framing: Payload.Framing, to receiver: any StoreBodyReceiver, failed: @escaping (any Error) -> HTTPResponse)
    {
        self.receiver = receiver
        self.failed = failed
        chunks = if case .chunks(let reader) = framing { reader } else { nil }
    }

    func receive(_ bytes: UnsafeRawBufferPointer) {
        guard let chunks else { return receiver.receive(bytes) }
        guard failure == nil else { return }
        do { try chunks.read(bytes, receiver.receive) } catch { failure = error }
    }

    func finish() -> HTTPResponse {
        do {
            guard let chunks else { return try receiver.finish() }
            // An upload that the chunks end early is abandoned.
            defer { receiver.abandon() }
            if let failure { throw failure }
            try chunks.finish()
            return try receiver.finish()
        } catch {
            return failed(error)
        }
    }

    func abandon() { receiver.abandon() }
}

/// Collects a client's document, for a Complete, a DeleteObjects, or tags.
final class DocumentBody: StoreBodyReceiver {
    private let maximumBytes: Int
    private var bytes: [UInt8] = []
    private var digest: BodyDigest
    private let share: BlockThreads.Share
    private let respond: (DocumentBody) throws -> HTTPResponse

    /// - Parameter respond: called when the document has arrived.
    /// - Throws: `malformedXML` if the declared length is above that of any such document, `outOfMemory` if there is no memory for
    ///   it.
    init(
        _ payload: Payload, _ store: ObjectStore, maximumBytes: Int, for owner: WorkOwner,
        respond: @escaping (DocumentBody) throws -> HTTPResponse
    ) throws {
        if let length = payload.length, length > maximumBytes { throw CompletionList.malformed }
        self.maximumBytes = maximumBytes
        self.respond = respond
        share = try store.documentShare(length: payload.length, for: owner)
        digest = BodyDigest(payload.checks)
    }

    func receive(_ piece: UnsafeRawBufferPointer) {
        digest.update(piece)
        // One byte above the limit is enough for the reader to refuse it.
        bytes.append(contentsOf: piece.prefix(maximumBytes + 1 - bytes.count))
    }

    func finish() throws -> HTTPResponse { try respond(self) }

    /// Returns the complete document.
    ///
    /// - Throws: if it does not match the request's length or checksums.
    func complete() throws -> [UInt8] {
        _ = try digest.finalize()
        return bytes
    }

    func abandon() {}
}
