import Basics
import GatewayFormats
import HTTPTypes
import ObjectStore
import RPC
import Zip

/// The bytes of an archive, made as they are requested, on a thread that may wait for the disk: the one that reads them as a source,
/// or its own worker, which makes pieces.
///
/// Sendable although it is mutable: one thread at a time uses the state.
final class ArchivePieces: BodySource, @unchecked Sendable {  // used by one thread at a time
    /// The size of a piece in bytes.
    private static let size = 256 << 10

    /// The object whose bytes come next.
    private enum Object {
        /// Its bytes are read, and compared with its checksum.
        case read(ObjectReader)
        /// Its bytes are passed on as ranges of its file; those before `position` were.
        case passed(HTTPFile, position: Int64)
    }

    private let worker = Worker.serial("archive")
    private let store: ObjectStore
    private let files: [ArchivedFile]
    private var writer = ZipWriter()
    /// Bytes of the format that precede the next object's.
    private var records: ArraySlice<UInt8> = []
    private var next = 0
    private var object: Object?
    private var isFinished = false

    init(_ files: [ArchivedFile], store: ObjectStore) {
        self.files = files
        self.store = store
    }

    /// Returns the number of bytes of the archive. It is known before any object is read, because entries are stored.
    func length() async throws -> Int64 {
        try await worker.run { [files] in
            var writer = ZipWriter()
            for file in files {
                _ = try writer.begin(file)
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
        try await worker.run { [self] in
            // Not initialized first, which would write every byte twice.
            try [UInt8](unsafeUninitializedCapacity: Self.size) { buffer, count in
                count = try read(into: UnsafeMutableRawBufferPointer(buffer), passesFiles: false).count
            }
        }
    }

    var hasFiles: Bool { files.contains { $0.crc32 != nil } }

    func read(into buffer: UnsafeMutableRawBufferPointer, passesFiles: Bool) throws -> HTTPBodyPiece {
        var count = 0
        while count < buffer.count {
            let space = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            if !records.isEmpty {
                count += addRecords(to: space)
                continue
            }
            switch object {
            case .read(let reader):
                count += try add(reader, to: space)
            case .passed(let file, let position):
                let some = Int(min(Int64(buffer.count), files[next].file.size - position))
                if some == 0 {
                    endObject()
                } else if count > 0 {
                    return .buffered(count)
                } else {
                    object = .passed(file, position: position + Int64(some))
                    return .file(file, offset: position, count: some)
                }
            case nil:
                guard try advance(passesFiles: passesFiles) else { return .buffered(count) }
            }
        }
        return .buffered(count)
    }

    private func addRecords(to space: UnsafeMutableRawBufferPointer) -> Int {
        let some = records.prefix(space.count)
        some.withUnsafeBytes { space.copyMemory(from: $0) }
        records = records.dropFirst(some.count)
        return some.count
    }

    /// Begins the next object, or after the last one the end of the archive; returns `false` after that.
    private func advance(passesFiles: Bool) throws -> Bool {
        if next < files.count {
            let file = files[next]
            let reader = try reading(file) { () throws(ObjectReader.Failure) in try store.reader(of: file.file) }
            records = try writer.begin(file)[...]
            if passesFiles, file.crc32 != nil, let descriptor = reader.takeDescriptor() {
                writer.skip(file.file.size)
                object = .passed(HTTPFile(owning: descriptor), position: 0)
            } else {
                object = .read(reader)
            }
            return true
        }
        if isFinished { return false }
        isFinished = true
        records = writer.finish()[...]
        return true
    }

    /// Writes the object's next bytes, or ends it after its last.
    private func add(_ reader: ObjectReader, to space: UnsafeMutableRawBufferPointer) throws -> Int {
        let count = try reading(files[next]) { () throws(ObjectReader.Failure) in try reader.read(into: space) }
        if count > 0 {
            writer.pass(UnsafeRawBufferPointer(rebasing: space[..<count]))
        } else {
            endObject()
        }
        return count
    }

    private func endObject() {
        records = writer.end()[...]
        object = nil
        next += 1
    }

    private func reading<T>(
        _ file: ArchivedFile, _ body: () throws(ObjectReader.Failure) -> T
    ) throws(RPCError) -> T {
        do throws(ObjectReader.Failure) {
            return try body()
        } catch {
            throw Self.error(error, of: file)
        }
    }

    var fileFailure: any Error { Self.error(.corrupted, of: files[next]) }

    private static func error(_ failure: ObjectReader.Failure, of file: ArchivedFile) -> RPCError {
        let id = file.file.fileID
        return switch failure {
        case .missing: .failedPrecondition("object \(id) was deleted while the archive was made")
        case .corrupted: .failedPrecondition("object \(id) is corrupted: its bytes no longer match its checksum")
        }
    }
}

/// An object as an entry of an archive.
struct ArchivedFile: Sendable {
    /// The path in the archive.
    let name: String
    /// The time when the content was recorded, else when its upload began.
    let time: UnixTime
    let file: StoredFile
    /// The CRC-32 of the bytes; `nil` if none is recorded.
    let crc32: UInt32?
}

extension ZipWriter {
    /// Begins the entry of a file.
    mutating func begin(_ file: ArchivedFile) throws(ZipError) -> [UInt8] {
        guard let crc32 = file.crc32 else {
            return try begin(file.name, time: file.time, largestSize: file.file.size)
        }
        return try begin(file.name, time: file.time, KnownContents(size: file.file.size, crc32: crc32))
    }
}

/// The names of an archive's entries: `DEVICE/PATH` for files of an uploaded folder, else `DEVICE/TIME-NAME`; each only once, also for
/// file systems that ignore case.
struct ArchiveNames {
    private var taken: Set<String> = []

    mutating func name(_ object: CatalogObject, name: FileName, crc32: UInt32?) -> ArchivedFile {
        let time = object.description.recordedFrom ?? object.times.createdAt
        let folder = object.owner.deviceID ?? "site-\(object.owner.siteID)"
        // Programs for other systems take a backslash for a slash.
        let path =
            object.description.relativePath.map { "\(folder)/\($0.text.replacing(bytes: ["\\": "_"]))" }
            ?? "\(folder)/\(CivilTime(time).textForFileName)-\(name.text)"
        return ArchivedFile(
            name: unique(path), time: time,
            file: StoredFile(
                fileID: object.fileID, size: object.content.size, crc64: object.description.crc64 ?? 0),
            crc32: crc32)
    }

    /// Adds a number before the extension of a path that is taken.
    private mutating func unique(_ path: String) -> String {
        var candidate = path
        var number = 1
        let parts = Path.extended(path)
        while !taken.insert(candidate.lowercased()).inserted {
            number += 1
            candidate = "\(parts.stem) (\(number))\(parts.extension)"
        }
        return candidate
    }
}
