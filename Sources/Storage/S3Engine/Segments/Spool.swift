import Basics
import ObjectStore
import Synchronization

/// The local space for bodies that cannot be passed on as they arrive: slow ones, and those whose length is not known.
final class Spool: Sendable {
    private let folder: String
    /// In bytes.
    let limit: Int64
    private let used = Lock<Int64>(0)
    private let refusals = Atomic<Int>(0)

    /// - Parameters:
    ///   - folder: exists; nothing is left in it.
    ///   - limit: in bytes.
    init(_ folder: String, limit: Int64) {
        self.folder = folder
        self.limit = limit
    }

    /// The used bytes.
    var usedBytes: Int64 { used.withLock { $0 } }

    /// The number of bodies for which there was no space.
    var refusalCount: Int { refusals.load(ordering: .relaxed) }

    /// - Throws: `full`.
    func makeBody() throws -> SlowBody {
        do {
            return SlowBody(try UnnamedFile(in: folder), in: self)
        } catch {
            throw StorageFailure(errno: error.code)
        }
    }

    fileprivate func take(_ count: Int) throws(StorageFailure) {
        let isFull = used.withLock { used in
            guard used + Int64(count) <= limit else { return true }
            used += Int64(count)
            return false
        }
        guard isFull else { return }
        refusals.add(1, ordering: .relaxed)
        throw .engine("the local space for slow bodies is used up")
    }

    fileprivate func giveBack(_ count: Int64) { used.withLock { $0 -= count } }
}

/// A body in the local space. Used by one thread at a time.
final class SlowBody: @unchecked Sendable {  // used by one thread at a time
    private let file: UnnamedFile
    private let spool: Spool
    private(set) var size: Int64 = 0

    fileprivate init(_ file: UnnamedFile, in spool: Spool) {
        self.file = file
        self.spool = spool
    }

    deinit {
        spool.giveBack(size)
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        try spool.take(bytes.count)
        do {
            try file.write(bytes, at: size)
        } catch {
            spool.giveBack(Int64(bytes.count))
            throw StorageFailure(errno: error.code)
        }
        size += Int64(bytes.count)
    }

    /// Reads all bytes, in pieces.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var position: Int64 = 0
        while position < size {
            let piece: [UInt8]
            do {
                piece = try file.read(at: position, count: BodyPipeline.pieceSize)
            } catch {
                throw StorageFailure(errno: error.code)
            }
            guard !piece.isEmpty else { throw StorageFailure.missing }
            try piece.withUnsafeBytes(body)
            position += Int64(piece.count)
        }
    }
}
