package import Basics
import Crypto
package import ObjectStore
import Synchronization

/// An engine with files in memory, which shows that the store needs nothing of an engine that requires a directory.
package final class MemoryEngine: ObjectEngine {
    package struct File: Sendable {
        package var bytes: [UInt8] = []
        package var isFinished = false
    }

    private let givesPlaces: Bool
    package let files = Lock<[String: File]>([:])
    private let facts = Lock<[String: [UInt8]]>([:])
    /// The ids of new files without a row.
    package let pending = Lock<Set<String>>([])

    package init(hasPlaces: Bool = true) {
        givesPlaces = hasPlaces
    }

    package func freeBytes() throws -> Int64? { nil }
    package func sizeBytes() throws -> Int64? { nil }

    package func hasPlaces(_ fileID: String) -> Bool { givesPlaces }

    package func start(_ start: EngineStart) throws -> any EngineUpkeep { NoUpkeep() }

    package func create(_ purpose: FilePurpose, length: Int64?) throws -> NewFile { newFile() }

    private func newFile() -> NewFile {
        let (id, sink) = createFile()
        return NewFile(id, sink, in: self)
    }

    /// Makes a new file, which an engine around this one removes or keeps.
    package func createFile() -> (id: String, sink: any BodySink) {
        let id = Random.hex(16)
        files.withLock { $0[id] = File() }
        pending.withLock { _ = $0.insert(id) }
        return (id, MemorySink(self, id, at: 0))
    }

    package func createMultipart() throws -> NewFile { newFile() }

    package func duplicate(_ fileID: String) throws -> NewFile {
        guard let bytes = files.withLock({ $0[fileID]?.bytes }) else { throw StorageFailure.missing }
        let new = newFile()
        files.withLock { $0[new.id] = File(bytes: bytes) }
        return new
    }

    package func receivePart(at position: Int64, of fileID: String) throws -> any BodySink {
        guard files.withLock({ $0[fileID] })?.isFinished == false else { throw StorageFailure.missing }
        return MemorySink(self, fileID, at: Int(position))
    }

    package func complete(_ fileID: String, _ parts: [EnginePart]) throws {
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

    package func resolve(_ fileID: String) { pending.withLock { _ = $0.remove(fileID) } }
    package func keep(_ fileID: String) {}
    package func seal(_ fileID: String) { files.withLock { $0[fileID]?.isFinished = true } }

    package func open(_ fileID: String) throws -> any StoredBytes {
        guard let file = files.withLock({ $0[fileID] }) else { throw StorageFailure.missing }
        return MemoryBytes(file.bytes)
    }

    package func openToExamine(_ fileID: String) throws -> any StoredBytes { try open(fileID) }
    package func remove(_ fileID: String) throws {
        files.withLock { $0[fileID] = nil }
        facts.withLock { $0[fileID] = nil }
    }

    package func removeDurably(_ fileIDs: [String]) throws -> [String] {
        for fileID in fileIDs { try remove(fileID) }
        return fileIDs
    }

    package func hasFacts(of fileID: String) throws -> Bool { facts.withLock { $0[fileID] != nil } }
    package func writeFacts(_ facts: [UInt8], of fileID: String) throws { self.facts.withLock { $0[fileID] = facts } }
    package func synchronizeFacts(of fileID: String) throws {}
    package func facts(of fileID: String) -> [UInt8]? { facts.withLock { $0[fileID] } }
}

/// The upkeep of an engine that nothing has to be compared with.
package final class NoUpkeep: EngineUpkeep {
    package let condition = EngineCondition.clean
    package let foldersToReconcile = 0

    package init() {}

    package var reconciliation: StoreReconciliation { StoreReconciliation() }

    package func finish() async {}
    package func stop() {}
    package func drain() {}
    package func recordCleanStop() {}
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

    func finish(md5: [UInt8]) throws {}

    func append(_ piece: UnsafeRawBufferPointer) throws {
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

    func takeDescriptor() -> Int32? { nil }
}
