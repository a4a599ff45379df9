import Basics
import Foundation

/// A file that was found in a directory.
package struct FoundFile: Sendable, Hashable {
    /// Absolute, or as the directory was named.
    package let path: String
    /// Below the directory that was searched.
    package let relativePath: String

    package init(path: String, relativePath: String) {
        self.path = path
        self.relativePath = relativePath
    }
}

/// The regular files below a directory. Links are not followed: neither those to files, nor those to directories.
package struct FileTree: Sendable {
    /// Deeper than anybody means it.
    private static let deepest = 64

    private let root: String
    private let isRecursive: Bool

    package init(_ root: String, isRecursive: Bool = true) {
        self.root = root.count > 1 && root.hasSuffix("/") ? String(root.dropLast()) : root
        self.isRecursive = isRecursive
    }

    /// Calls `body` with each file and each directory, the root first; directories before what is in them, each in the order
    /// of its names.
    ///
    /// - Parameter entered: called before a directory is read.
    /// - Throws: `FolderListing.Failure` of the root, or of a directory for another reason than that it is gone.
    package func forEach(
        entered: (_ directory: String) throws -> Void = { _ in }, _ body: (FoundFile, stat) throws -> Void
    ) throws {
        try walk(root, "", depth: 0, entered, body)
    }

    private func walk(
        _ directory: String, _ relative: String, depth: Int, _ entered: (String) throws -> Void,
        _ body: (FoundFile, stat) throws -> Void
    ) throws {
        try entered(directory)
        let names: [String]
        do {
            names = try FolderListing.names(in: directory).sorted()
        } catch {
            if depth > 0, error.code == ENOENT || error.code == ENOTDIR { return }
            throw error
        }
        for name in names {
            let path = directory == "/" ? "/\(name)" : "\(directory)/\(name)"
            let below = relative.isEmpty ? name : "\(relative)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0 else {
                if errno == ENOENT { continue }
                throw FolderListing.Failure(path: path, code: errno)
            }
            switch status.st_mode & S_IFMT {
            case S_IFREG: try body(FoundFile(path: path, relativePath: below), status)
            case S_IFDIR where isRecursive && depth < Self.deepest:
                try walk(path, below, depth: depth + 1, entered, body)
            default: break
            }
        }
    }
}
