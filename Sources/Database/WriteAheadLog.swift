import CLinux
import Glibc

/// The file beside a database that holds what was committed and is not in the database file yet.
///
/// After a failed sync Linux marks the pages that it could not write as clean and keeps them: whoever reads the file finds
/// in the page cache what the disk does not have, and a later sync says yes without writing it. A log that was recovered
/// from the cache and written on has a hole on the disk, and everything behind the hole is lost with the power, or worse:
/// frames in front of it are then replayed over a database file that is newer than they are. The database file, too, may
/// have such pages, from a checkpoint that failed. So what an unclean end left in the cache is written to the disk where the
/// disk differs, and synced, before SQLite reads a byte of it.
struct WriteAheadLog {
    /// Bytes that are read and written at a time.
    private static let piece = 1 << 20

    let path: String
    private let database: String
    private let folder: String

    /// - Parameter database: the path of the database file.
    init(of database: String) {
        self.database = database
        path = database + "-wal"
        folder = database.lastIndex(of: "/").map { String(database[..<$0]) } ?? "."
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
        try synchronizeFolder()
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

    /// Makes every byte of the file at `path`, as the cache has it, durable.
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
        var position = 0
        while true {
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
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open the folder of") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("sync the folder of") }
    }

    private func failure(_ verb: String) -> DatabaseError {
        let code = errno
        return .failed(
            code: code,
            message: """
                cannot \(verb) the database's write-ahead log \(path): \(String(cString: strerror(code))). It holds \
                what was acknowledged and is nowhere else: see to the disk, then start again
                """)
    }
}
