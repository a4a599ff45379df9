import Basics
import CLinux
import Glibc

/// The file beside a database that holds what was committed and is not in the database file yet.
///
/// After a failed sync Linux marks the pages that it could not write as clean and keeps them: whoever reads the file finds
/// in the page cache what the disk does not have, and a later sync says yes without writing it. A log that was recovered
/// from the cache and written on has a hole on the disk, and everything behind the hole is lost with the power, or worse:
/// frames in front of it are then replayed over a database file that is newer than they are. The database file, too, may
/// have such pages, from a checkpoint that failed. So before SQLite reads a byte of them, the cache drops what it has of both
/// files; what it cannot drop is written to the disk where the disk differs; and both are synced.
///
/// A dropped page was clean, so what is read then is what the disk has. Where a sync failed that is less than the cache had,
/// and nobody was told of it: a commit is acknowledged after its sync.
struct WriteAheadLog {
    /// Bytes that are read and written at a time.
    private static let piece = 1 << 20

    let path: String
    private let database: String

    /// - Parameter database: the path of the database file.
    init(of database: String) {
        self.database = database
        path = database + "-wal"
    }

    /// Makes every byte of the log durable, or fails; a log that is empty or not there needs nothing. To be called before any
    /// connection is open.
    ///
    /// - Returns: whether there was a log: the process that wrote it did not come to its end.
    /// - Throws: ``DatabaseError/failed(code:message:)`` with the `errno`; nobody may rely on the log then.
    func makeDurable() throws(DatabaseError) -> Bool {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        if descriptor < 0 && errno == ENOENT { return false }
        guard descriptor >= 0 else { throw failure("open") }
        defer { close(descriptor) }
        let length = lseek(descriptor, 0, SEEK_END)
        guard length >= 0 else { throw failure("read") }
        guard length > 0 else { return false }
        for file in [database, path] { try write(file) }
        return true
    }

    /// Makes a truncation durable, so that a power loss does not bring the frames back.
    func synchronize() throws(DatabaseError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 && errno == ENOENT { return try synchronizeFolder() }
        guard descriptor >= 0 else { throw failure("open") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("sync") }
    }

    /// Makes the file at `path` durable as it is read from here on.
    private func write(_ path: String) throws(DatabaseError) {
        let cached = open(path, O_RDWR | O_CLOEXEC)
        guard cached >= 0 else { throw failure("open") }
        defer { close(cached) }
        // Past the cache, so that it says what the disk has, and writes to blocks that the file is known to have: ext4 sends
        // a cached page to the block of the write that failed, and does not enter the block into the file.
        let direct = open(path, O_RDWR | O_CLOEXEC)
        guard direct >= 0 else { throw failure("open") }
        defer { close(direct) }
        // Where the file system has no such writes, those through the cache at least make its pages dirty again.
        let isDirect = linux_set_direct(direct, true) == 0
        let buffers = (0..<2).map { _ in UnsafeMutableRawBufferPointer.allocate(byteCount: Self.piece, alignment: 4096)
        }
        defer { buffers.forEach { $0.deallocate() } }
        // No reading ahead: it would bring in pages that need no look.
        for advice in [POSIX_FADV_RANDOM, POSIX_FADV_DONTNEED] { posix_fadvise(cached, 0, 0, advice) }
        guard let residency = Residency(of: cached) else { throw failure("map") }
        var position = 0
        while position < residency.size {
            guard residency.isCached(position..<position + Self.piece) else {
                position += Self.piece
                continue
            }
            let count = pread(cached, buffers[0].baseAddress, Self.piece, position)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw failure("read") }
            guard count > 0 else { break }
            let blocks = isDirect ? count & ~4095 : 0
            let isOnDisk =
                blocks > 0 && pread(direct, buffers[1].baseAddress, blocks, position) == blocks
                && Self.isEqual(buffers[0], buffers[1], blocks)
            if !isOnDisk { try write(buffers[0], 0..<blocks, to: direct, at: position) }
            try write(buffers[0], blocks..<count, to: cached, at: position)
            position += count
        }
        guard fsync(cached) == 0 else { throw failure("sync") }
    }

    private static func isEqual(
        _ bytes: UnsafeMutableRawBufferPointer, _ others: UnsafeMutableRawBufferPointer, _ count: Int
    ) -> Bool {
        guard let bytes = bytes.baseAddress, let others = others.baseAddress else { return false }
        return memcmp(bytes, others, count) == 0
    }

    private func write(
        _ bytes: UnsafeMutableRawBufferPointer, _ range: Range<Int>, to descriptor: Int32, at position: Int
    ) throws(DatabaseError) {
        var written = range.lowerBound
        while written < range.upperBound {
            let done = pwrite(
                descriptor, bytes.baseAddress?.advanced(by: written), range.upperBound - written, position + written)
            if done < 0 && errno == EINTR { continue }
            guard done > 0 else { throw failure("write") }
            written += done
        }
    }

    /// Makes the names of the database file and its log durable.
    func synchronizeFolder() throws(DatabaseError) {
        do throws(PrivateFile.Failure) {
            try PrivateFile.synchronizeFolder(Path.folder(of: database))
        } catch {
            throw failure("sync the folder of", error.code)
        }
    }

    private func failure(_ verb: String, _ code: Int32 = errno) -> DatabaseError {
        .failed(
            code: code,
            message: """
                cannot \(verb) the database's write-ahead log \(path): \(String(cString: strerror(code))). The log has \
                acknowledged changes that are stored nowhere else: repair the disk, then start again
                """)
    }
}
