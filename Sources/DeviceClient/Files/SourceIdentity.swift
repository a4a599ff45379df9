import Foundation
import HTTPClient

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
}

/// The reason why a file cannot be uploaded: a sentence without a full stop.
package struct SourceFailure: Error, Sendable, Hashable {
    package let message: String

    init(_ message: String) { self.message = message }
}
