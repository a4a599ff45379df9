package import Basics
package import Glibc

/// A file found in a directory.
package struct FoundFile: Sendable, Hashable {
    /// The path, absolute or relative as the directory was given.
    package let path: String
    /// The path relative to the searched directory.
    package let relativePath: String

    package init(path: String, relativePath: String) {
        self.path = path
        self.relativePath = relativePath
    }
}

/// The identity of a directory, independent of the path to it.
package struct DirectoryIdentity: Sendable, Hashable {
    private let device: UInt64
    private let inode: UInt64

    /// Follows links; `nil` if nothing exists at the path.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    fileprivate init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }

    /// Whether the directory is `path`, or one above it.
    package func contains(_ path: String) -> Bool {
        guard let resolved = realpath(path, nil) else { return false }
        defer { free(resolved) }
        var place = String(cString: resolved)
        while DirectoryIdentity(place) != self {
            if place == "/" { return false }
            place = Path.folder(of: place)
        }
        return true
    }
}

/// The regular files below a directory. Links are not followed: neither those to files, nor those to directories.
package struct FileTree: Sendable {
    /// The largest depth of directories.
    private static let deepest = 64

    private let root: String
    private let isRecursive: Bool
    private let excluded: DirectoryIdentity?

    /// - Parameter excluded: the program's own directory, which is left out with everything below it, wherever it is found.
    package init(_ root: String, isRecursive: Bool = true, except excluded: DirectoryIdentity? = nil) {
        self.root = root.count > 1 && root.hasSuffix("/") ? String(root.dropLast()) : root
        self.isRecursive = isRecursive
        self.excluded = excluded
    }

    /// Calls `body` with each file and each directory, the root first; directories before what is in them, each in the order
    /// of its names. What is gone by then is left out.
    ///
    /// - Parameters:
    ///   - entered: called before a directory is read.
    ///   - linked: called with each symbolic link, which is left out.
    ///   - failed: called once for each directory below the root that cannot be listed or is more than 64 directories below it, and
    ///     for each that has entries whose status cannot be read or whose names are not UTF-8; the others are read all the same.
    /// - Throws: `FolderListing.Failure` of the root, also if it is excluded.
    package func forEach(
        entered: (_ directory: String) -> Void = { _ in }, linked: (FoundFile) -> Void = { _ in },
        failed: (FolderListing.Failure) -> Void, _ body: (FoundFile, stat) -> Void
    ) throws(FolderListing.Failure) {
        guard excluded?.contains(root) != true else {
            throw FolderListing.Failure(path: root, code: FolderListing.Failure.isOwn)
        }
        try walk(root, "", entered, linked, failed, body)
    }

    private func walk(
        _ directory: String, _ relative: String, _ entered: (String) -> Void, _ linked: (FoundFile) -> Void,
        _ failed: (FolderListing.Failure) -> Void, _ body: (FoundFile, stat) -> Void
    ) throws(FolderListing.Failure) {
        let depth = relative.split(byte: "/", omittingEmpty: true).count
        entered(directory)
        let (names, others): ([String], [String])
        do {
            (names, others) = try FolderListing.validNames(in: directory)
        } catch {
            guard depth > 0 else { throw error }
            if error.code != ENOENT, error.code != ENOTDIR { failed(error) }
            return
        }
        // A name that is not UTF-8 cannot be told to the gateway.
        var failure =
            others.isEmpty ? nil : FolderListing.Failure(path: directory, code: EILSEQ, names: others.sorted())
        for name in names.sorted() {
            let path = directory == "/" ? "/\(name)" : "\(directory)/\(name)"
            let below = relative.isEmpty ? name : "\(relative)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0 else {
                if errno == ENOENT { continue }
                failure = FolderListing.Failure(path: directory, code: errno)
                continue
            }
            switch status.st_mode & S_IFMT {
            case S_IFREG: body(FoundFile(path: path, relativePath: below), status)
            case S_IFLNK: linked(FoundFile(path: path, relativePath: below))
            case S_IFDIR where isRecursive && DirectoryIdentity(status) != excluded:
                guard depth < Self.deepest else {
                    failed(FolderListing.Failure(path: path, code: FolderListing.Failure.tooDeep))
                    continue
                }
                try walk(path, below, entered, linked, failed, body)
            default: break
            }
        }
        if let failure { failed(failure) }
    }
}
