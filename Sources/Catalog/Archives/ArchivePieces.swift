import Dispatch
import ObjectStore
import RPC
import Zip

/// The bytes of an archive, made piece by piece as they are requested, on a thread that may wait for the disk.
///
/// Sendable although it is mutable: only its queue uses the state.
final class ArchivePieces: @unchecked Sendable {  // state belongs to its queue
    /// The size of a piece in bytes, and the room for records that follow an object's end.
    private static let size = 256 << 10
    private static let recordRoom = 8 << 10

    private let queue = DispatchQueue(label: "archive")
    private let store: ObjectStore
    private let files: [ArchivedFile]
    private var writer = ZipWriter()
    private var next = 0
    private var reader: ObjectReader?
    private var isFinished = false

    init(_ files: [ArchivedFile], store: ObjectStore) {
        self.files = files
        self.store = store
    }

    /// Returns the next piece; `nil` after the last.
    ///
    /// - Throws: an error that names the object that cannot be archived.
    func nextPiece() async throws -> [UInt8]? {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in continuation.resume(with: Result { try makePiece() }) }
        }
    }

    private func makePiece() throws -> [UInt8]? {
        if isFinished { return nil }
        var piece: [UInt8] = []
        piece.reserveCapacity(Self.size)
        while piece.count < Self.size - Self.recordRoom, !isFinished {
            if let reader {
                try append(reader, to: &piece)
            } else if next < files.count {
                let file = files[next]
                reader = try reading(file) { () throws(ObjectReader.Failure) in try store.reader(of: file.file) }
                piece += try writer.begin(file.name, time: file.time, largestSize: file.file.size)
            } else {
                piece += writer.finish()
                isFinished = true
            }
        }
        return piece
    }

    /// Appends the object's next bytes, or the record that follows its last.
    private func append(_ reader: ObjectReader, to piece: inout [UInt8]) throws {
        let start = piece.count
        let room = Self.size - start
        let count = try reading(files[next]) { () throws(ObjectReader.Failure) in
            try piece.appendBytes(atMost: room, from: reader)
        }
        guard count == 0 else {
            return piece.withUnsafeBytes { writer.pass(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        }
        piece += writer.end()
        self.reader = nil
        next += 1
    }

    private func reading<T>(
        _ file: ArchivedFile, _ body: () throws(ObjectReader.Failure) -> T
    ) throws(RPCError) -> T {
        do throws(ObjectReader.Failure) {
            return try body()
        } catch {
            let id = file.file.fileID
            switch error {
            case .missing: throw .failedPrecondition("object \(id) was deleted while the archive was made")
            case .corrupted:
                throw .failedPrecondition("object \(id) is corrupted: its bytes no longer match its checksum")
            }
        }
    }
}

extension [UInt8] {
    /// Appends the next bytes of an object, and returns their number.
    fileprivate mutating func appendBytes(
        atMost count: Int, from reader: ObjectReader
    ) throws(ObjectReader.Failure) -> Int {
        let start = self.count
        append(contentsOf: repeatElement(0, count: count))
        let result = withUnsafeMutableBytes { buffer in
            Result { () throws(ObjectReader.Failure) in
                try reader.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[start...]))
            }
        }
        let read = (try? result.get()) ?? 0
        removeLast(count - read)
        return try result.get()
    }
}
