import Basics
import HTTPClient
import StoreClient

/// The file that is uploaded, as long as it stays what it was when the upload began.
struct PartSource: Sendable {
    let identity: SourceIdentity
    private let file: FileReader

    /// - Throws: `FileReader.Failure`, or `SourceFailure` where it is another file, or has changed.
    init(_ identity: SourceIdentity) throws {
        self.identity = identity
        file = try FileReader(identity.path)
        try verify()
    }

    /// - Throws: `SourceChange` where somebody wrote to the file.
    func verify() throws {
        if let change = identity.change(to: try SourceIdentity(file)) { throw SourceChange(identity.path, change) }
    }

    /// The bytes with their digests, ready to be sent.
    func piece(_ range: Range<Int64>) async throws -> StoreClient.Piece {
        try await DiskWork.run { try verify() }
        guard let piece = try await StoreClient.Piece(reading: range, of: file) else {
            throw SourceChange(identity.path, "became shorter")
        }
        return piece
    }
}

/// A file was written to after its upload began: its parts do not belong together.
package struct SourceChange: Error, Sendable, Hashable {
    package let path: String
    /// The rest of a sentence that begins with the file.
    package let change: String

    init(_ path: String, _ change: String) {
        self.path = path
        self.change = change
    }
}

/// Bytes that one attempt to send a piece has counted; they count no more when it fails.
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
