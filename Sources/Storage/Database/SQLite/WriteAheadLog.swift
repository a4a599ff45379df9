import Basics
import CLinux
import Glibc

/// The file beside a database with the committed changes that are not in the database file yet.
///
/// After a failed sync Linux marks the unwritten pages as clean and keeps them: readers of the file get data from the page cache
/// that the disk does not have, and a later sync succeeds without writing it. A log that was recovered from the cache and extended
/// has a hole on the disk, and everything after the hole is lost in a power cut, or worse: frames before it are then replayed over
/// a newer database file. The database file may have such pages as well, from a failed checkpoint. So before SQLite reads either
/// file, the cache drops its pages of both; pages that cannot be dropped are written to the disk if the disk differs; and both
/// files are synced.
///
/// A dropped page was clean, so the data read afterwards is the disk's. After a failed sync that is less than the cache had, but no
/// commit in it was acknowledged, because acknowledgements follow the sync.
struct WriteAheadLog {
    /// The number of bytes that are read and written at once.
    private static let piece = 1 << 20

    let path: String
    private let database: String

    /// - Parameter database: the path of the database file.
    init(of database: String) {
        self.database = database
        path = database + "-wal"
    }

    /// The size of the file, 0 without one; `nil` if it cannot be read.
    var byteCount: Int? {
        var status = stat()
        if stat(path, &status) == 0 { return Int(status.st_size) }
        return errno == ENOENT ? 0 : nil
    }

    /// Makes every byte of the log durable, or throws; does nothing for an empty or missing log. Called before any connection is
    /// open.
    ///
    /// - Returns: whether there was a log, i.e. the previous process was not shut down cleanly.
    /// - Throws: ``DatabaseError/failed(code:message:)`` with the `errno`; the log must not be used then.
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

    /// Makes a truncation durable, so that a power loss does not restore the frames.
    func synchronize() throws(DatabaseError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 && errno == ENOENT { return try synchronizeFolder() }
        guard descriptor >= 0 else { throw failure("open") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("sync") }
    }

    /// Makes the contents of the file at `path` durable as they are read from now on.
    private func write(_ path: String) throws(DatabaseError) {
        let cached = open(path, O_RDWR | O_CLOEXEC)
        guard cached >= 0 else { throw failure("open") }
        defer { close(cached) }
        // Bypasses the cache, so that reads return the disk's data, and writes go to blocks that belong to the file: ext4 writes a
        // cached page to the block of the failed write, without adding the block to the file.
        let direct = open(path, O_RDWR | O_CLOEXEC)
        guard direct >= 0 else { throw failure("open") }
        defer { close(direct) }
        // On a file system without direct writes, buffered ones at least make the pages dirty again.
        let isDirect = linux_set_direct(direct, true) == 0
        let buffers = (0..<2).map { _ in UnsafeMutableRawBufferPointer.allocate(byteCount: Self.piece, alignment: 4096)
        }
        defer { buffers.forEach { $0.deallocate() } }
        // Without read-ahead, which would cache pages that need no check.
        posix_fadvise(cached, 0, 0, POSIX_FADV_RANDOM)
        CachedPages.dropAll(of: cached)
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
