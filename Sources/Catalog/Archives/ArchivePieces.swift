import Basics
import Dispatch
import ObjectStore
import RPC
import Zip

/// The bytes of an archive, made as they are requested, on a thread that may wait for the disk: the one that reads them as a source,
/// or its own queue, which makes pieces.
///
/// Sendable although it is mutable: one thread at a time uses the state.
final class ArchivePieces: BodySource, @unchecked Sendable {  // used by one thread at a time
    /// The size of a piece in bytes.
    private static let size = 256 << 10

    private let queue = DispatchQueue(label: "archive")
    private let store: ObjectStore
    private let files: [ArchivedFile]
    private var writer = ZipWriter()
    /// Bytes of the format that precede the next object's.
    private var records: ArraySlice<UInt8> = []
    private var next = 0
    private var reader: ObjectReader?
    private var isFinished = false

    init(_ files: [ArchivedFile], store: ObjectStore) {
        self.files = files
        self.store = store
    }

    /// Returns the number of bytes of the archive. It is known before any object is read, because entries are stored.
    func length() async throws -> Int64 {
        try await queue.result { [files] in
            var writer = ZipWriter()
            for file in files {
                _ = try writer.begin(file.name, time: file.time, largestSize: file.file.size)
                writer.skip(file.file.size)
                _ = writer.end()
            }
            _ = writer.finish()
            return writer.length
        }
    }

    /// Passes the archive to `send` piece by piece. One piece is made while the one before is sent.
    ///
    /// - Throws: an error that names the object that cannot be archived.
    func forEachPiece(_ send: ([UInt8]) async throws -> Void) async throws {
        var next = Task { try await nextPiece() }
        defer { next.cancel() }
        while true {
            let piece = try await next.value
            if piece.isEmpty { return }
            next = Task { try await nextPiece() }
            try await send(piece)
        }
    }

    /// Returns the next piece, which is empty after the last.
    private func nextPiece() async throws -> [UInt8] {
        try await queue.result { [self] in
            // Not initialized first, which would write every byte twice.
            try [UInt8](unsafeUninitializedCapacity: Self.size) { buffer, count in
                count = try read(into: UnsafeMutableRawBufferPointer(buffer))
            }
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        var count = 0
        while count < buffer.count {
            guard let added = try add(to: UnsafeMutableRawBufferPointer(rebasing: buffer[count...])) else { break }
            count += added
        }
        return count
    }

    /// Writes the next bytes, and returns their number, which can be 0 between two objects; `nil` at the end of the archive.
    private func add(to space: UnsafeMutableRawBufferPointer) throws -> Int? {
        if !records.isEmpty {
            let some = records.prefix(space.count)
            some.withUnsafeBytes { space.copyMemory(from: $0) }
            records = records.dropFirst(some.count)
            return some.count
        }
        if let reader {
            return try add(reader, to: space)
        }
        if next < files.count {
            let file = files[next]
            reader = try reading(file) { () throws(ObjectReader.Failure) in try store.reader(of: file.file) }
            records = try writer.begin(file.name, time: file.time, largestSize: file.file.size)[...]
            return 0
        }
        if isFinished { return nil }
        isFinished = true
        records = writer.finish()[...]
        return 0
    }

    /// Writes the object's next bytes, or prepares the record that follows its last.
    private func add(_ reader: ObjectReader, to space: UnsafeMutableRawBufferPointer) throws -> Int {
        let count = try reading(files[next]) { () throws(ObjectReader.Failure) in try reader.read(into: space) }
        if count > 0 {
            writer.pass(UnsafeRawBufferPointer(rebasing: space[..<count]))
        } else {
            records = writer.end()[...]
            self.reader = nil
            next += 1
        }
        return count
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
