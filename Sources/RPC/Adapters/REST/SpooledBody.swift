import Glibc
import Wire

/// The body of a request, most of which waits in a file while it arrives: forms have files in them, and clients on slow lines.
///
/// The file has no name, so that nothing of it is left when the process ends. Used by one call, on its loop.
final class SpooledBody {
    /// Bytes that stay in memory.
    static let memoryBound = 256 << 10
    /// The number of bytes in the file that count as one in memory: so the limits of memory bound the file as well.
    private static let fileWeight = 8

    private let directory: String
    private let limit: Int
    private var beginning: [UInt8] = []
    private var file: Int32 = -1
    private var fileCount = 0

    /// - Parameters:
    ///   - directory: where the file is.
    ///   - limit: the longest body, in bytes.
    init(directory: String, limit: Int) {
        self.directory = directory
        self.limit = limit
    }

    deinit {
        if file >= 0 { close(file) }
    }

    /// Bytes that count against the limits of what requests hold.
    var heldBytes: Int { beginning.count + fileCount / Self.fileWeight }

    /// Whether some of the body is in a file.
    var isSpooled: Bool { file >= 0 }

    func receive(_ data: UnsafeRawBufferPointer) throws(RPCError) {
        guard beginning.count + fileCount + data.count <= limit else {
            throw .tooLarge("the request exceeds the limit of \(limit) bytes")
        }
        let inMemory = file >= 0 ? 0 : min(data.count, Self.memoryBound - beginning.count)
        beginning.append(contentsOf: data.prefix(inMemory))
        if inMemory < data.count { try spool(UnsafeRawBufferPointer(rebasing: data[inMemory...])) }
    }

    private func spool(_ data: UnsafeRawBufferPointer) throws(RPCError) {
        if file < 0 { file = Self.makeFile(in: directory) }
        guard file >= 0 else { throw Self.failure("open", errno) }
        var rest = data
        while let start = rest.baseAddress, !rest.isEmpty {
            let count = pwrite(file, start, rest.count, off_t(fileCount))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure("pwrite", errno) }
            fileCount += count
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    private static func makeFile(in directory: String) -> Int32 {
        // O_TMPFILE, which Swift does not import.
        let nameless = open(directory, 0o20000000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, 0o600)
        guard nameless < 0, errno == EOPNOTSUPP || errno == EISDIR else { return nameless }
        let path = "\(directory)/.request-\(UInt64.random(in: 0...UInt64.max))"
        let named = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        if named >= 0 { unlink(path) }
        return named
    }

    /// All of the body.
    func contents() throws(RPCError) -> [UInt8] {
        if file < 0 { return beginning }
        var whole = beginning
        var piece = [UInt8](repeating: 0, count: Self.memoryBound)
        var offset = 0
        while offset < fileCount {
            let count = pread(file, &piece, piece.count, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure("pread", errno) }
            whole.append(contentsOf: piece[..<count])
            offset += count
        }
        return whole
    }

    private static func failure(_ operation: String, _ code: Int32) -> RPCError {
        RPCError(
            bare: .unavailable, "the gateway cannot keep the form on its disk: try again later",
            retryAfterMilliseconds: 1000
        )
        .caused(by: SpoolError(operation: operation, code: code))
    }
}

/// A system call on a request's file failed.
private struct SpoolError: Error, CustomStringConvertible {
    let operation: String
    let code: Int32

    var description: String { "\(operation): \(String(cString: strerror(code)))" }
}
