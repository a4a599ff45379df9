import ObjectStore
import StoreProtocol

/// A document of a client's while it arrives: of a Complete, a DeleteObjects, or tags.
final class DocumentBody {
    private let maximumBytes: Int
    private var bytes: [UInt8] = []
    private var digest: BodyDigest
    private let share: BlockThreads.Share

    /// - Throws: `malformedXML` where the body is declared to be longer than any such document, `outOfMemory` where there is no
    ///   memory for it.
    init(_ payload: Payload, _ store: ObjectStore, maximumBytes: Int) throws {
        if let length = payload.length, length > maximumBytes { throw CompletionList.malformed }
        self.maximumBytes = maximumBytes
        share = try store.documentShare(length: payload.length)
        digest = BodyDigest(payload.checks)
    }

    func receive(_ piece: UnsafeRawBufferPointer) {
        digest.update(piece)
        // One byte too many is enough to be refused by the reader.
        bytes.append(contentsOf: piece.prefix(maximumBytes + 1 - bytes.count))
    }

    /// The whole document.
    ///
    /// - Throws: where it is not what its request says.
    func finish() throws -> [UInt8] {
        _ = try digest.finalize()
        return bytes
    }
}
