import Basics
import Dispatch
import ObjectStore
import StoreTesting
import Synchronization
import TestSupport

/// An engine whose sinks stop taking bytes until they are cancelled, and which counts what they got.
final class StallingEngine: EngineWrapper {
    struct Cancelled: Error {}

    final class Sink: BodySink, @unchecked Sendable {  // the file is used by one thread at a time
        let mayBlock: Bool
        private let base: any BodySink
        private let stalls: Bool
        /// Signalled when a caller begins to wait.
        let isWaiting = DispatchSemaphore(value: 0)
        private let end = DispatchSemaphore(value: 0)
        private let state = Lock((bytes: 0, isFinished: false))

        init(_ base: any BodySink, mayBlock: Bool, stalls: Bool) {
            self.base = base
            self.mayBlock = mayBlock
            self.stalls = stalls
        }

        var bytes: Int { state.withLock { $0.bytes } }
        var isFinished: Bool { state.withLock { $0.isFinished } }

        func append(_ piece: UnsafeRawBufferPointer) throws {
            if stalls {
                isWaiting.signal()
                try end.waitForSignal()
                throw Cancelled()
            }
            state.withLock { $0.bytes += piece.count }
            try base.append(piece)
        }

        func finish(md5: [UInt8]) throws { state.withLock { $0.isFinished = true } }

        func cancel() { end.signal() }
    }

    let base = MemoryEngine(hasPlaces: false)
    private let sinksMayBlock: Bool
    /// The number of sinks that stall; further ones take everything.
    private let stalling: Lock<Int>
    private let made = Lock<[Sink]>([])

    init(sinksMayBlock: Bool = true, stalling: Int = 0) {
        self.sinksMayBlock = sinksMayBlock
        self.stalling = Lock(stalling)
    }

    var sinks: [Sink] { made.withLock { $0 } }

    func create(_ purpose: FilePurpose, length: Int64?) throws -> NewFile {
        let stalls = stalling.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
        let (id, file) = base.createFile()
        let sink = Sink(file, mayBlock: sinksMayBlock, stalls: stalls)
        made.withLock { $0.append(sink) }
        return NewFile(id, sink, in: self)
    }

    /// Its sinks take no bytes, so none stalls.
    func createMultipart() throws -> NewFile { try base.createMultipart() }
}
