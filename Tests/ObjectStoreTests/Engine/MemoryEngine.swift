import Basics
import Glibc
import Synchronization

@testable import ObjectStore

/// An engine with files in memory, which shows that the store needs nothing of an engine that requires a directory.
final class MemoryEngine: ObjectEngine {
    struct File: Sendable {
        var bytes: [UInt8] = []
        var isFinished = false
    }

    let files = Lock<[String: File]>([:])
    /// The ids of new files without a row.
    let pending = Lock<Set<String>>([])
    private let created = Lock(0)

    func create() throws -> NewFile {
        let id = created.withLock { count in
            count += 1
            return String(repeating: "0", count: 24) + String(count + 0x1000_0000, radix: 16)
        }
        files.withLock { $0[id] = File() }
        pending.withLock { _ = $0.insert(id) }
        return NewFile(id, MemorySink(self, id, at: 0), in: self)
    }

    func createMultipart() throws -> NewFile { try create() }

    func duplicate(_ fileID: String) throws -> NewFile {
        guard let bytes = files.withLock({ $0[fileID]?.bytes }) else { throw StorageFailure.missing }
        let new = try create()
        files.withLock { $0[new.id] = File(bytes: bytes) }
        return new
    }

    func receivePart(at position: Int64, of fileID: String) throws -> any BodySink {
        guard files.withLock({ $0[fileID] })?.isFinished == false else { throw StorageFailure.missing }
        return MemorySink(self, fileID, at: Int(position))
    }

    func complete(_ fileID: String, _ parts: [EnginePart]) throws {
        try files.withLock { files in
            guard var bytes = files[fileID]?.bytes else { throw StorageFailure.missing }
            var place = 0
            for part in parts {
                let end = place + Int(part.size)
                if let own = part.fileID, let file = files[own] {
                    bytes += [UInt8](repeating: 0, count: max(0, end - bytes.count))
                    bytes.replaceSubrange(place..<end, with: file.bytes)
                }
                place = end
            }
            files[fileID]?.bytes = Array(bytes.prefix(place))
        }
    }

    func resolve(_ fileID: String) { pending.withLock { _ = $0.remove(fileID) } }
    func keep(_ fileID: String) {}
    func seal(_ fileID: String) { files.withLock { $0[fileID]?.isFinished = true } }

    func open(_ fileID: String) throws -> any StoredBytes {
        guard let file = files.withLock({ $0[fileID] }) else { throw StorageFailure.missing }
        return MemoryBytes(file.bytes)
    }

    func openToExamine(_ fileID: String) throws -> any StoredBytes { try open(fileID) }
    func remove(_ fileID: String) throws { files.withLock { $0[fileID] = nil } }
    func synchronizeRemovals(of fileIDs: [String]) throws {}

    func hasFacts(of fileID: String) throws -> Bool { false }
    func writeFacts(_ facts: [UInt8], of fileID: String) throws {}
    func synchronizeFacts(of fileID: String) throws {}
    func facts(of fileID: String) -> [UInt8]? { nil }
}

private final class MemorySink: BodySink {
    private let engine: MemoryEngine
    private let fileID: String
    private let position: Lock<Int>

    init(_ engine: MemoryEngine, _ fileID: String, at position: Int) {
        self.engine = engine
        self.fileID = fileID
        self.position = Lock(position)
    }

    func append(block: UnsafeRawBufferPointer) throws { append(block) }
    func append(end: UnsafeRawBufferPointer) throws { append(end) }
    func finish() throws {}

    private func append(_ piece: UnsafeRawBufferPointer) {
        let start = position.withLock { position in
            defer { position += piece.count }
            return position
        }
        engine.files.withLock { files in
            guard var bytes = files[fileID]?.bytes else { return }
            bytes += [UInt8](repeating: 0, count: max(0, start + piece.count - bytes.count))
            bytes.replaceSubrange(start..<start + piece.count, with: piece)
            files[fileID]?.bytes = bytes
        }
    }
}

private final class MemoryBytes: StoredBytes {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    func size() throws -> Int64 { Int64(bytes.count) }
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws { try bytes.withUnsafeBytes(body) }

    func readPassing(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) throws -> Int {
        try read(into: buffer, at: position)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) throws -> Int {
        let piece = bytes.dropFirst(Int(position)).prefix(buffer.count)
        buffer.copyBytes(from: piece)
        return piece.count
    }

    func takeDescriptor() -> Int32 {
        let file = tmpfile()
        defer { fclose(file) }
        let descriptor = dup(fileno(file))
        _ = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        return descriptor
    }
}
