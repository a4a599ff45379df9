import ObjectStore
import StoreProtocol

/// The document of a Complete while it arrives.
final class CompletionBody {
    private var bytes: [UInt8] = []
    private var digest: BodyDigest
    private let share: BlockThreads.Share

    /// - Throws: `malformedXML` where the body is declared to be longer than any list of parts, `outOfMemory` where there is no
    ///   memory for it.
    init(_ payload: Payload, _ store: ObjectStore) throws {
        if let length = payload.length, length > CompletionList.maximumBytes { throw CompletionList.malformed }
        share = try store.documentShare(length: payload.length)
        digest = BodyDigest(payload.checks)
    }

    func receive(_ piece: UnsafeRawBufferPointer) {
        digest.update(piece)
        // One byte too many is enough to be refused by the reader.
        bytes.append(contentsOf: piece.prefix(CompletionList.maximumBytes + 1 - bytes.count))
    }

    func list() throws -> CompletionList {
        _ = try digest.finalize()
        return try CompletionList(xml: bytes)
    }
}
