import Basics
import StoreProtocol

/// Receives one body, hashes it, and passes it to a sink. The sink gets the last bytes only after the digests of all were compared with
/// those in the request.
///
/// Used by one thread at a time.
package final class BodyPipeline {
    /// Runs a write, or throws if the right to write was revoked.
    typealias Permit = @Sendable (() throws -> Void) throws -> Void

    /// The most bytes that a sink which may block gets at a time.
    package static let pieceSize = 64 << 10
    /// The number of blocks that a body can use at the same time.
    static let blocks = BlockFlow.blocks

    /// The sink; `nil` = the body is hashed, but not stored.
    private let sink: (any BodySink)?
    private let flow: any BodyFlow
    private let share: BlockThreads.Share?
    /// The MD5 of all bytes, once ``finish()`` has returned.
    private var md5: [UInt8] = []
    /// Whether nothing is to be cancelled any more.
    private var isFinished = false
    /// The number of appended bytes.
    private(set) var count: Int64 = 0

    /// - Parameters:
    ///   - threads: those of the bodies that are passed on in blocks; `nil` = the sink may block, and gets pieces as they arrive.
    ///   - share: the share of the memory for blocks; kept as long as this pipeline.
    ///   - permit: wraps each write to a sink that does not block, and precedes each of another one.
    init(
        _ checks: BodyChecks, into sink: (any BodySink)?, threads: BlockThreads?,
        share: BlockThreads.Share? = nil, permit: @escaping Permit = { try $0() }
    ) {
        self.sink = sink
        self.share = share
        flow =
            if let threads {
                BlockFlow(checks, into: sink, threads, permit)
            } else {
                PieceFlow(checks, into: sink, permit)
            }
    }

    /// - Throws: also the error of an earlier piece.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
        count += Int64(bytes.count)
        try flow.append(bytes)
    }

    /// Waits until all bytes are hashed and passed on. May be called once.
    ///
    /// - Throws: also if the digests differ from those in the request.
    func finish() throws -> BodyDigest.Stored {
        let stored = try flow.finish()
        md5 = stored.md5
        return stored
    }

    /// Makes the bytes durable and closes the file.
    func synchronizeAndClose() throws {
        try sink?.finish(md5: md5)
        isFinished = true
    }

    /// Abandons the rest; returns when no other thread works on this body any more.
    func cancel() {
        flow.cancel()
        if !isFinished { sink?.cancel() }
        isFinished = true
    }
}

/// The way of a body's bytes to the digests and to a sink. Used by one thread at a time.
protocol BodyFlow: AnyObject {
    func append(_ bytes: UnsafeRawBufferPointer) throws
    func finish() throws -> BodyDigest.Stored
    func cancel()
}
