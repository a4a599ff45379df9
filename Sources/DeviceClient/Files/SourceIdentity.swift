import Basics
import CLinux
import GRPCWire
import GatewayFormats
import Glibc
package import HTTPClient
import RPC
import StoreClient

/// The identity and version of an uploaded file: parts that were read at different times belong together only if it is unchanged.
package struct SourceIdentity: Codable, Sendable, Hashable {
    /// The absolute path.
    package let path: String
    /// The size in bytes.
    package let size: Int64
    /// The time of the last write, in nanoseconds since 1970.
    package let modified: Int64
    package let device: UInt64
    package let inode: UInt64
    /// Nanoseconds since 1970, of the last change of the content or the status (ctime), which no program sets; `nil` = not known.
    /// A change of the status alone leaves the file what it is.
    package let changed: Int64?

    package init(
        path: String, size: Int64, modified: Int64, device: UInt64, inode: UInt64, changed: Int64? = nil
    ) {
        self.path = path
        self.size = size
        self.modified = modified
        self.device = device
        self.inode = inode
        self.changed = changed
    }

    /// - Throws: `SourceFailure` if it is not a regular file.
    package init(_ file: FileReader) throws {
        let status = try file.status()
        guard status.st_mode & S_IFMT == S_IFREG else { throw SourceFailure("\(file.path) is not a regular file") }
        self.init(path: file.path, status)
    }

    /// Returns the difference of `later`, as the end of a sentence that begins with the file; `nil` without a difference.
    package func change(to later: SourceIdentity) -> String? {
        if (device, inode) != (later.device, later.inode) { return "was replaced by another file" }
        if size != later.size { return "changed from \(size) to \(later.size) bytes" }
        return modified == later.modified ? nil : "was modified"
    }

    /// Whether the file was removed. One whose disk is not mounted was not: what is there of its path is on another disk.
    package var isRemoved: Bool {
        var status = stat()
        guard lstat(path, &status) != 0, errno == ENOENT else { return false }
        var folder = Path.folder(of: path)
        while stat(folder, &status) != 0 {
            guard errno == ENOENT, folder != "/" else { return false }
            folder = Path.folder(of: folder)
        }
        return UInt64(status.st_dev) == device
    }
}

/// The reason why the gateway never accepts a file as it is: a sentence without a full stop. Another attempt is useless until the file
/// or the configuration is changed.
package struct FileRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    package let message: String

    package var description: String { message }

    init(_ message: String) { self.message = message }

    /// Checks what is known before anything is sent.
    ///
    /// - Parameter tags: all tags of the upload.
    static func check(_ path: String, _ tags: [String: String]) throws(FileRefusal) {
        do throws(RPCError) {
            try TagRules.check(tags, field: "tags", maximum: TagRules.maximumOfObject)
        } catch {
            throw FileRefusal("\(path) cannot be uploaded: \(error.message)")
        }
    }

    /// Returns the refusal that an answer of the gateway or the store means; `nil` where another attempt may succeed.
    init?(_ error: any Error, of path: String) {
        switch error {
        case let failure as CallFailure where failure.status.code == .invalidArgument:
            self.init("the gateway refused \(path): \(failure.status.message)")
        case let refusal as StoreRefusal where refusal.isOfContent:
            self.init("the object store refused \(path): \(refusal)")
        default: return nil
        }
    }
}

/// The reason why a file cannot be uploaded: a sentence without a full stop.
package struct SourceFailure: Error, Sendable, Hashable, CustomStringConvertible {
    package let message: String

    package var description: String { message }

    init(_ message: String) { self.message = message }
}
