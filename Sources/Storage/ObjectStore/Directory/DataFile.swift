import Basics
import CLinux
import Glibc

/// An open data file. Every PUT has a descriptor of its own, so that its sync reports the errors of its own writes.
/// Used by one thread at a time, and Sendable for that: who writes hands it over with the bytes.
final class DataFile: BodySink, StoredBytes, @unchecked Sendable {  // used by one thread at a time
    enum Access {
        case reading
        case writing
    }

    /// The bytes of one buffered write. Larger pieces have the kernel look for large free pages first, which took ten
    /// times the time here: 512 MiB in pieces of 1 MiB 1.5 to 4.4 s, in these 0.4 s.
    static let slice = 128 << 10

    private var descriptor: Int32
    private var isDirect = false
    /// Where the next bytes of a body go.
    private var position: Int64 = 0
    private let calls: FileCalls
    /// Where the name of a new file stands that is not durable yet.
    private var unsyncedFolder: String?

    /// Takes over `descriptor`.
    ///
    /// - Parameter folder: of a file that was just made, whose name is to be synced with it.
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

    /// Whether it is marked as a finished object's; see ``DirectoryEngine/seal(_:)``.
    func isFinished() throws(StorageFailure) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .lastOfReading() }
        return status.st_mode & 0o200 == 0
    }

    /// Reads all of it, a piece at a time.
    ///
    /// - Throws: `StorageFailure`, and what `body` throws.
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

    /// Reads what stands at `position`, and leaves nothing of it in the page cache.
    ///
    /// - Returns: how many bytes; 0 at the end of the file.
    func readPassing(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) throws(StorageFailure) -> Int {
        while true {
            let count = calls.read(descriptor, buffer.baseAddress, buffer.count, Int(position))
            if count >= 0 {
                if !isDirect { posix_fadvise(descriptor, Int(position), count, POSIX_FADV_DONTNEED) }
                return count
            }
            if errno != EINTR { throw .lastOfReading() }
        }
    }

    /// Whether writes go past the page cache, which costs them a tenth of the time of a core; bytes, their count and
    /// their offset must be aligned then. A file that refuses stays buffered.
    func setDirect(_ wanted: Bool) {
        guard wanted != isDirect, linux_set_direct(descriptor, wanted) == 0 else { return }
        isDirect = wanted
    }

    /// From now on the bytes of a body go to `position` and behind it.
    ///
    /// - Parameter directly: whether its blocks go past the page cache; `position` is aligned for that.
    func begin(at position: Int64, directly: Bool) {
        self.position = position
        setDirect(directly)
    }

    func append(block: UnsafeRawBufferPointer) throws {
        try writeBlock(block, at: position)
        position += Int64(block.count)
    }

    func append(end: UnsafeRawBufferPointer) throws {
        setDirect(false)
        try write(end, at: position)
        position += Int64(end.count)
    }

    func finish() throws { try synchronizeAndClose() }

    /// Writes a whole block. Where that ends in the page cache, the way to the disk begins now, so that the sync at the
    /// end has little left to wait for.
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

    /// Makes what was written durable, and a new file's name, and closes the file. A failure is final: what it covered
    /// is lost.
    func synchronizeAndClose() throws {
        guard calls.synchronize(descriptor) == 0 else { throw StorageFailure.last() }
        // In this order: with a file system's journal, the sync of a new file has brought its name along.
        try synchronizeName()
        let closing = descriptor
        descriptor = -1
        guard Glibc.close(closing) == 0 else { throw StorageFailure.last() }
    }

    /// Makes the name of a new file durable, without what was written.
    func synchronizeName() throws {
        guard let folder = unsyncedFolder.take() else { return }
        try PrivateFile.synchronizeFolder(folder)
    }

    /// Hands the descriptor over, to be sent from and closed by the caller.
    func takeDescriptor() -> Int32 {
        defer { descriptor = -1 }
        return descriptor
    }
}
