import Basics
import HTTPClient
import StoreClient
import Synchronization

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
