import Glibc

/// A file without a name, to which bytes are appended and from which they are read: nothing of it is left when it is closed or the
/// process ends.
///
/// Reads may overlap; writes must not overlap anything.
package final class UnnamedFile: Sendable {
    /// A system call on the file failed.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        package let operation: String
        /// The `errno` of the call.
        package let code: Int32

        package init(operation: String, code: Int32) {
            self.operation = operation
            self.code = code
        }

        package var description: String { "\(operation): \(String(cString: strerror(code)))" }
    }

    package let descriptor: Int32

    /// - Parameter directory: the folder on whose disk the file is.
    package init(in directory: String) throws(Failure) {
        let file = Self.open(in: directory)
        guard file >= 0 else { throw Failure(operation: "open", code: errno) }
        descriptor = file
    }

    deinit { close(descriptor) }

    private static func open(in directory: String) -> Int32 {
        // O_TMPFILE, which Swift does not import.
        let nameless = Glibc.open(directory, 0o20000000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, 0o600)
        guard nameless < 0, errno == EOPNOTSUPP || errno == EISDIR else { return nameless }
        let path = "\(directory)/.request-\(UInt64.random(in: 0...UInt64.max))"
        let named = Glibc.open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        if named >= 0 { unlink(path) }
        return named
    }

    /// Writes all of `data`.
    package func write(_ data: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        var rest = data
        var offset = offset
        while let start = rest.baseAddress, !rest.isEmpty {
            let count = pwrite(descriptor, start, rest.count, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Failure(operation: "pwrite", code: errno) }
            offset += Int64(count)
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Reads at most `count` bytes; none at the end of the file.
    package func read(at offset: Int64, count: Int) throws(Failure) -> [UInt8] {
        while true {
            var failure: Int32?
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
                failure = count < 0 ? errno : nil
                filled = max(0, count)
            }
            if failure == EINTR { continue }
            if let failure { throw Failure(operation: "pread", code: failure) }
            return bytes
        }
    }
}
