package import Glibc

/// A file that is open for reading, at any offset and by any number of threads at once.
package final class FileReader: RangedBytes {
    /// The reason why a file cannot be read; `reason` is the system's message.
    package struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        package let path: String
        package let reason: String
        /// Whether no file of that name exists.
        package let isMissing: Bool

        package var description: String { "cannot read \(path): \(reason)" }

        init(_ path: String, _ number: Int32 = errno) {
            self.path = path
            reason = String(cString: strerror(number))
            isMissing = number == ENOENT
        }
    }

    package let path: String
    private let descriptor: Int32
    private static let blockSize = 256 * 1024

    /// - Parameter followsLinks: whether a symbolic link of the name stands for what it leads to; otherwise it is a failure.
    package init(_ path: String, followsLinks: Bool = true) throws(Failure) {
        self.path = path
        // A named pipe that nobody writes to is not waited for.
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW))
        guard descriptor >= 0 else { throw Failure(path) }
    }

    deinit {
        close(descriptor)
    }

    /// Makes the file's bytes durable, whichever process wrote them.
    package func synchronize(_ fsync: (Int32) -> Int32 = { Glibc.fsync($0) }) throws(Failure) {
        guard fsync(descriptor) == 0 else { throw Failure(path) }
    }

    /// Returns the current `stat` of the file.
    package func status() throws(Failure) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Failure(path) }
        return status
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Failure) -> Int {
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { throw Failure(path) }
        }
    }

    /// Returns the first bytes of the file, at most `limit`.
    package func contents(limit: Int) throws(Failure) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: limit, alignment: 16)
        defer { buffer.deallocate() }
        var count = 0
        while count < limit {
            let more = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]), at: Int64(count))
            if more == 0 { break }
            count += more
        }
        return Array(buffer[..<count])
    }

    /// Returns the first bytes of standard input, at most `limit`; it waits for them, as they may come from a pipe.
    package static func standardInput(limit: Int) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 16)
        defer { block.deallocate() }
        while bytes.count < limit {
            let count = Glibc.read(STDIN_FILENO, block.baseAddress, min(block.count, limit - bytes.count))
            if count == 0 { break }
            if count > 0 {
                bytes += block[..<count]
            } else if errno != EINTR {
                throw Failure("-")
            }
        }
        return bytes
    }
}
