import Basics
import CLinux
import CommandLineInterface
import DeviceClient
import FoundationEssentials
import Glibc
import HTTPClient

/// The files of the arguments of `upload`: files, directories with all their content, and patterns.
struct UploadSelection: Sendable {
    struct File: Sendable, Hashable {
        /// The path that was given, or one below the given directory.
        let path: String
        /// The path below the given directory, or the name of a file that was given itself.
        let relativePath: String
        /// Whether it was found in a given directory.
        var isInFolder = false
        /// The size in bytes.
        let size: Int64
        /// The time of the last write, in nanoseconds since 1970.
        let modified: Int64

        var candidate: UploadCandidate {
            UploadCandidate(
                path: URL(fileURLWithPath: path).standardizedFileURL.path, relativePath: isInFolder ? relativePath : nil
            )
        }
    }

    private(set) var files: [File] = []
    /// Directories below the named ones that could not be read: what is in them is not among the files.
    private(set) var unreadable: [FolderListing.Failure] = []
    /// Symbolic links below the named directories, which are left out; without those that the options leave out.
    private(set) var links: [String] = []
    private var known: Set<String> = []
    private let filter: FileFilter
    /// The device's folder, which has its key: it is left out of directories.
    private let excluded: DirectoryIdentity?

    init(_ arguments: [String], _ filter: FileFilter, in deviceFolder: DeviceFolder) throws {
        self.filter = filter
        excluded = DirectoryIdentity(deviceFolder.path)
        for argument in arguments { try add(argument) }
    }

    /// Selects files that may not exist any more.
    init(exactly paths: [String]) {
        filter = FileFilter()
        excluded = nil
        for path in paths {
            var status = stat()
            let name = Path.name(of: path)
            if stat(path, &status) == 0 {
                insert(File(path: path, relativePath: name, status))
            } else {
                insert(File(path: path, relativePath: name, size: 0, modified: 0))
            }
        }
    }

    private mutating func add(_ argument: String) throws {
        var status = stat()
        if stat(argument, &status) == 0 {
            if status.st_mode & S_IFMT == S_IFDIR {
                try add(directory: argument) { _ in true }
            } else {
                // A file that cannot be uploaded is reported when it is tried, with the others.
                insert(File(path: argument, relativePath: Path.name(of: argument), status))
            }
        } else if FilePattern.isPattern(argument) {
            try add(pattern: argument)
        } else {
            insert(File(path: argument, relativePath: Path.name(of: argument), size: 0, modified: 0))
        }
    }

    private mutating func add(directory: String, _ admits: (String) -> Bool) throws {
        var found: [File] = []
        var unread: [FolderListing.Failure] = []
        var left: [FoundFile] = []
        try FileTree(directory, except: excluded).forEach(
            linked: { left.append($0) }, failed: { unread.append($0) }
        ) { file, status in
            guard admits(file.relativePath), filter.admits(file.relativePath) else { return }
            var file = File(path: file.path, relativePath: file.relativePath, status)
            file.isInFolder = true
            found.append(file)
        }
        for file in found { insert(file) }
        unreadable += unread
        links += left.filter { admits($0.relativePath) && concerns($0) }.map(\.path)
    }

    /// Whether a link may have led to files that were selected.
    private func concerns(_ link: FoundFile) -> Bool {
        DirectoryIdentity(link.path + "/") == nil
            ? filter.admits(link.relativePath) : !filter.excludes(link.relativePath)
    }

    /// Adds the files of a pattern. The search begins in the directory before the first name with a wildcard.
    private mutating func add(pattern argument: String) throws {
        let names = argument.split(byte: "/", omittingEmpty: true)
        let fixed = names.prefix { !FilePattern.isPattern($0) }
        let root = (argument.hasPrefix("/") ? "/" : "") + fixed.joined(separator: "/")
        let rest = names.dropFirst(fixed.count).joined(separator: "/")
        guard let pattern = FilePattern("/" + rest) else { throw Self.matchesNothing(argument) }
        let before = files.count
        do {
            try add(directory: root.isEmpty ? "." : root) { pattern.matches($0) }
        } catch let failure as FolderListing.Failure where failure.code == ENOENT || failure.code == ENOTDIR {
            throw Self.matchesNothing(argument)
        }
        guard files.count > before else { throw Self.matchesNothing(argument) }
    }

    private mutating func insert(_ file: File) {
        if known.insert(URL(fileURLWithPath: file.path).standardizedFileURL.path).inserted { files.append(file) }
    }

    private static func matchesNothing(_ pattern: String) -> ClientFailure {
        ClientFailure("no file matches the pattern \(pattern)")
    }
}

extension UploadSelection.File {
    init(path: String, relativePath: String, _ status: stat) {
        self.init(
            path: path, relativePath: relativePath, size: Int64(status.st_size),
            modified: SourceIdentity(path: path, status).modified)
    }
}
