import Glibc

/// The file beside a database that holds what was committed and is not in the database file yet.
///
/// After a failed sync Linux marks the pages that it could not write as clean and keeps them: whoever reads the file finds
/// in the page cache what the disk does not have, and a later sync says yes without writing it. A log that was recovered
/// from the cache and written on has a hole on the disk, and everything behind the hole is lost with the power, or worse:
/// frames in front of it are then replayed over a database file that is newer than they are. So what an unclean end left
/// is written again, which makes its pages dirty once more, before SQLite reads a frame of it.
struct WriteAheadLog {
    /// Bytes that are read and written at a time.
    private static let piece = 1 << 20

    let path: String
    private let folder: String

    /// - Parameter database: the path of the database file.
    init(of database: String) {
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
        try rewrite(descriptor, length)
        guard fsync(descriptor) == 0 else { throw failure("sync") }
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

    private func rewrite(_ descriptor: Int32, _ length: Int) throws(DatabaseError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: min(Self.piece, length), alignment: 4096)
        defer { buffer.deallocate() }
        var position = 0
        while position < length {
            let count = pread(descriptor, buffer.baseAddress, min(buffer.count, length - position), position)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure("read") }
            var written = 0
            while written < count {
                let done = pwrite(
                    descriptor, buffer.baseAddress?.advanced(by: written), count - written, position + written)
                if done < 0 && errno == EINTR { continue }
                guard done > 0 else { throw failure("write") }
                written += done
            }
            position += count
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
