import Basics
import CLinux
import Glibc
import ObjectStore

/// An open data file. Every PUT has a descriptor of its own, so that its sync reports the errors of its own writes. Used by one
/// thread at a time, and Sendable because the writer passes it on together with the bytes.
final class DataFile: BodySink, StoredBytes, @unchecked Sendable {  // used by one thread at a time
    enum Access {
        case reading
        case writing
    }

    /// The size of one buffered write in bytes. For larger pieces the kernel first searches for large free pages, which took ten
    /// times as long in a measurement: 512 MiB in pieces of 1 MiB 1.5 to 4.4 s, in these 0.4 s.
    static let slice = 128 << 10

    private var descriptor: Int32
    private var isDirect = false
    /// The position of the next bytes of a body.
    private var position: Int64 = 0
    private let calls: FileCalls
    /// The folder of a new file whose name is not durable yet.
    private var unsyncedFolder: String?

    /// Takes ownership of `descriptor`.
    ///
    /// - Parameter folder: the folder of a new file, whose name is synced with it.
    init(owning descriptor: Int32, calls: FileCalls = FileCalls(), newIn folder: String? = nil) {
        self.descriptor = descriptor
        self.calls = calls
        unsyncedFolder = folder
    }

    deinit {
        if descriptor >= 0 {
            Glibc.close(descriptor)
        }
    }

    func size() throws(StorageFailure) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .lastOfReading() }
        return Int64(status.st_size)
    }

    /// Whether it is marked as a finished object's file; see ``DirectoryEngine/seal(_:)``.
    func isFinished() throws(StorageFailure) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .lastOfReading() }
        return status.st_mode & 0o200 == 0
    }

    /// Reads the whole file piece by piece.
    ///
    /// - Throws: `StorageFailure`, and the error of `body`.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4096)
        defer { buffer.deallocate() }
        var position = 0
        while true {
            let count = calls.read(descriptor, buffer.baseAddress, buffer.count, position)
            if count == 0 { return }
            if count > 0 {
                try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                position += count
            } else if errno != EINTR {
                throw StorageFailure.lastOfReading()
            }
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) throws(StorageFailure) -> Int {
        while true {
            let count = calls.read(descriptor, buffer.baseAddress, buffer.count, Int(position))
            if count >= 0 { return count }
            if errno != EINTR { throw .lastOfReading() }
        }
    }

    /// Reads the bytes at `position`, and leaves none of them in the page cache.
    ///
    /// - Returns: the number of bytes; 0 at the end of the file.
    func readPassing(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) throws(StorageFailure) -> Int {
        let count = try read(into: buffer, at: position)
        if !isDirect { CachedPages.drop(Int(position)..<Int(position) + count, of: descriptor) }
        return count
    }

    /// Enables or disables direct writes, which bypass the page cache and take a tenth of the processor time; bytes, their count
    /// and their offset must be aligned then. If the file does not support them, writes stay buffered.
    func setDirect(_ wanted: Bool) {
        guard wanted != isDirect, linux_set_direct(descriptor, wanted) == 0 else { return }
        isDirect = wanted
    }

    /// Sets the position for the following bytes of a body.
    ///
    /// - Parameter directly: whether its blocks are written directly; `position` is aligned then.
    func begin(at position: Int64, directly: Bool) {
        self.position = position
        setDirect(directly)
    }

    func append(_ piece: UnsafeRawBufferPointer) throws {
        if piece.count == AlignedBlock.size {
            try writeBlock(piece, at: position)
        } else {
            setDirect(false)
            try write(piece, at: position)
        }
        position += Int64(piece.count)
    }

    func finish(md5: [UInt8]) throws { try synchronizeAndClose() }

    /// Writes a whole block. A buffered block is sent to the disk at once, so that the sync at the end has little left to wait for.
    func writeBlock(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StorageFailure) {
        let step = isDirect ? bytes.count : Self.slice
        for start in stride(from: 0, to: bytes.count, by: step) {
            let end = min(start + step, bytes.count)
            try write(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), at: offset + Int64(start))
        }
        guard isDirect || linux_begin_write_back(descriptor, Int(offset), bytes.count) == 0 else { throw .last() }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StorageFailure) {
        if !isDirect { CachedPages.drop(Int(offset)..<Int(offset) + bytes.count, of: descriptor) }
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = calls.write(descriptor, rest.baseAddress, rest.count, Int(offset) + written)
            if count > 0 {
                written += count
            } else if count == 0 || errno != EINTR {
                throw .last()
            }
        }
    }

    /// Copies the first `length` bytes of another file to `offset`.
    func copy(_ source: DataFile, length: Int64, to offset: Int64) throws(StorageFailure) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var copied: Int64 = 0
        while copied < length {
            let wanted = min(buffer.count, Int(length - copied))
            let count = source.calls.read(source.descriptor, buffer.baseAddress, wanted, Int(copied))
            guard count >= 0 || errno == EINTR else { throw .lastOfReading() }
            guard count != 0 else { throw .missing }
            if count > 0 {
                try write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset + copied)
                copied += Int64(count)
            }
        }
    }

    func truncate(to length: Int64) throws(StorageFailure) {
        guard ftruncate(descriptor, Int(length)) == 0 else { throw .last() }
    }

    /// Makes the bytes and the name of a new file durable, and closes the file. A failure is final: the bytes are lost.
    func synchronizeAndClose() throws {
        guard calls.synchronize(descriptor) == 0 else { throw StorageFailure.last() }
        // In this order: on a file system with a journal, the sync of a new file has already synced its name.
        try synchronizeName()
        let closing = descriptor
        descriptor = -1
        guard Glibc.close(closing) == 0 else { throw StorageFailure.last() }
    }

    /// Makes the name of a new file durable, but not its bytes.
    func synchronizeName() throws {
        guard let folder = unsyncedFolder.take() else { return }
        try PrivateFile.synchronizeFolder(folder)
    }

    /// Transfers the descriptor to the caller, who sends from it and closes it.
    func takeDescriptor() -> Int32? {
        defer { descriptor = -1 }
        return descriptor
    }
}
