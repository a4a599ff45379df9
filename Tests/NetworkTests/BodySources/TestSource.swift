import Basics
import Dispatch
import Foundation
import GRPCWire
import HTTPTypes
import RPC
import Synchronization
import TestSupport

/// A source whose bytes follow from their positions, and that can fail or wait at a position. Its record shows how it was used.
final class TestSource: BodySource, @unchecked Sendable {  // used by one thread at a time
    /// The behavior of the sources of a test.
    struct Plan: Sendable {
        /// The number of bytes before the end.
        var size = 1_000_000
        /// The announced length of the response; `nil` = none.
        var announced: Int?
        /// The position at which reading fails; `nil` = none.
        var failure: Int?
        /// The position at which reading waits for the gate; `nil` = none.
        var gate: Int?
        /// The positions of the bytes that are also in a file, which a transport may send; empty = none.
        var file = 0..<0
        /// The number of bytes that the file lacks.
        var cut = 0

        /// The position at which the next read has to end.
        fileprivate func limit(from position: Int) -> Int {
            [size, failure, gate, file.lowerBound, file.upperBound].compactMap { $0 }.filter { $0 > position }.min()
                ?? position
        }
    }

    private let plan: Plan
    private let record: SourceRecord
    private let file: HTTPFile?
    private var position = 0

    init(_ plan: Plan, _ record: SourceRecord) throws {
        self.plan = plan
        self.record = record
        file = plan.file.isEmpty ? nil : try Self.file(of: plan.file.dropLast(plan.cut))
    }

    /// Makes a file, without a name, of the bytes at these positions.
    private static func file(of positions: Range<Int>) throws -> HTTPFile {
        let folder = try TestFolder(inMemory: true)
        let path = "\(folder.path)/bytes"
        let bytes = [UInt8](unsafeUninitializedCapacity: positions.count) { buffer, count in
            for index in buffer.indices { buffer[index] = byte(at: positions.lowerBound + index) }
            count = positions.count
        }
        try Data(bytes).write(to: URL(filePath: path))
        return HTTPFile(owning: open(path, O_RDONLY | O_CLOEXEC))
    }

    var hasFiles: Bool { file != nil }

    var fileFailure: any Error { RPCError(bare: .dataLoss, "the file fails") }

    deinit { record.released() }

    static func byte(at position: Int) -> UInt8 { UInt8(truncatingIfNeeded: position ^ position >> 8) }

    func read(into buffer: UnsafeMutableRawBufferPointer, passesFiles: Bool) throws -> HTTPBodyPiece {
        if position == plan.gate { try record.waitAtGate() }
        if position == plan.failure {
            record.count(0)
            throw RPCError(bare: .dataLoss, "the source fails")
        }
        let count = min(buffer.count, plan.limit(from: position) - position)
        defer { position += count }
        record.count(count)
        if passesFiles, let file, plan.file.contains(position) {
            return .file(file, offset: Int64(position - plan.file.lowerBound), count: count)
        }
        for index in 0..<count { buffer[index] = Self.byte(at: position + index) }
        return .buffered(count)
    }
}

/// The use of a test's sources.
final class SourceRecord: Sendable {
    struct Counts: Sendable {
        /// The number of calls of `read`.
        var reads = 0
        /// The number of bytes that were read.
        var bytes = 0
        /// The largest number of bytes that were read and had not reached the client.
        var lead = 0
        /// The number of bytes that the client has received.
        fileprivate(set) var received = 0
        /// The number of sources that were released.
        fileprivate(set) var releases = 0
    }

    private let state = Lock(Counts())
    private let release = DispatchSemaphore(value: 0)
    /// Signaled when a read waits at the gate.
    let arrived = DispatchSemaphore(value: 0)
    /// Opens the gate for one read.
    let gate = DispatchSemaphore(value: 0)

    var counts: Counts { state.withLock { $0 } }

    /// Records bytes that have reached the client.
    func received(_ count: Int) { state.withLock { $0.received += count } }

    /// Waits until a source was released.
    func waitForRelease() throws { try release.waitForSignal() }

    fileprivate func count(_ bytes: Int) {
        state.withLock { state in
            state.reads += 1
            state.bytes += bytes
            state.lead = max(state.lead, state.bytes - state.received)
        }
    }

    fileprivate func waitAtGate() throws {
        arrived.signal()
        try gate.waitForSignal()
    }

    fileprivate func released() {
        state.withLock { $0.releases += 1 }
        release.signal()
    }
}
