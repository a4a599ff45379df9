import Basics
import GRPCWire

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
    private var file: UnnamedFile?
    private var fileCount = 0

    /// - Parameters:
    ///   - directory: where the file is.
    ///   - limit: the longest body, in bytes.
    init(directory: String, limit: Int) {
        self.directory = directory
        self.limit = limit
    }

    /// Bytes that count against the limits of what requests hold.
    var heldBytes: Int { beginning.count + fileCount / Self.fileWeight }

    /// Whether some of the body is in a file.
    var isSpooled: Bool { file != nil }

    func receive(_ data: UnsafeRawBufferPointer) throws(RPCError) {
        guard beginning.count + fileCount + data.count <= limit else {
            throw .tooLarge("the request exceeds the limit of \(limit) bytes")
        }
        let inMemory = isSpooled ? 0 : min(data.count, Self.memoryBound - beginning.count)
        beginning.append(contentsOf: data.prefix(inMemory))
        guard inMemory < data.count else { return }
        do throws(UnnamedFile.Failure) {
            try spool(UnsafeRawBufferPointer(rebasing: data[inMemory...]))
        } catch {
            throw Self.refusal(error)
        }
    }

    private func spool(_ data: UnsafeRawBufferPointer) throws(UnnamedFile.Failure) {
        let file = if let file { file } else { try UnnamedFile(in: directory) }
        self.file = file
        try file.write(data, at: Int64(fileCount))
        fileCount += data.count
    }

    /// All of the body.
    func contents() throws(RPCError) -> [UInt8] {
        guard let file else { return beginning }
        var whole = beginning
        do throws(UnnamedFile.Failure) {
            while whole.count < beginning.count + fileCount {
                let piece = try file.read(at: Int64(whole.count - beginning.count), count: Self.memoryBound)
                guard !piece.isEmpty else { throw UnnamedFile.Failure(operation: "pread", code: 0) }
                whole += piece
            }
        } catch {
            throw Self.refusal(error)
        }
        return whole
    }

    private static func refusal(_ failure: UnnamedFile.Failure) -> RPCError {
        RPCError(
            bare: .unavailable, "the gateway cannot keep the form on its disk: try again later",
            retryAfterMilliseconds: 1000
        )
        .caused(by: failure)
    }
}
