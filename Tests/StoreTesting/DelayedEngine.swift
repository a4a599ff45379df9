import Basics
import Glibc
package import ObjectStore

/// An engine without places for parts, like one in a network: each of its calls takes some time, its sinks may block, and it has no
/// local files.
package final class DelayedEngine: EngineWrapper {
    /// The duration of a call in microseconds.
    private static let delay: UInt32 = 20_000

    package let base = MemoryEngine(hasPlaces: false)

    package init() {}

    private static func pause() { usleep(delay) }

    package func create(_ purpose: FilePurpose, length: Int64?) throws -> NewFile {
        Self.pause()
        let (id, sink) = base.createFile()
        return NewFile(id, DelayedSink(sink, Self.pause), in: self)
    }

    package func duplicate(_ fileID: String) throws -> NewFile {
        Self.pause()
        return try base.duplicate(fileID)
    }

    package func complete(_ fileID: String, _ parts: [EnginePart]) throws {
        Self.pause()
        try base.complete(fileID, parts)
    }

    package func open(_ fileID: String) throws -> any StoredBytes {
        Self.pause()
        return DelayedBytes(try base.open(fileID), Self.pause)
    }

    package func remove(_ fileID: String) throws {
        Self.pause()
        try base.remove(fileID)
    }

    package func writeFacts(_ facts: [UInt8], of fileID: String) throws {
        Self.pause()
        try base.writeFacts(facts, of: fileID)
    }
}

/// Passes on what it gets when the body has ended: nothing appears before.
private final class DelayedSink: BodySink, @unchecked Sendable {  // `arrived` is used by one thread at a time
    let mayBlock = true
    private let sink: any BodySink
    private let pause: @Sendable () -> Void
    private var arrived: [UInt8] = []

    init(_ sink: any BodySink, _ pause: @escaping @Sendable () -> Void) {
        self.sink = sink
        self.pause = pause
    }

    func append(_ piece: UnsafeRawBufferPointer) throws {
        precondition(piece.count <= BodyPipeline.pieceSize)
        arrived += piece
    }

    func finish(md5: [UInt8]) throws {
        pause()
        try arrived.withUnsafeBytes(sink.append)
    }
}

private final class DelayedBytes: StoredBytes {
    private let bytes: any StoredBytes
    private let pause: @Sendable () -> Void

    init(_ bytes: any StoredBytes, _ pause: @escaping @Sendable () -> Void) {
        self.bytes = bytes
        self.pause = pause
    }

    func size() throws -> Int64 { try bytes.size() }

    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        pause()
        try bytes.forEachPiece(body)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) throws -> Int {
        pause()
        return try bytes.read(into: buffer, at: position)
    }

    func readPassing(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) throws -> Int {
        try read(into: buffer, at: position)
    }

    func takeDescriptor() -> Int32? { nil }
}
