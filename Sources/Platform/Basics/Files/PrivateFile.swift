package import Glibc

/// Small files that only the server's user may read, written so that they survive a power loss.
package enum PrivateFile {
    package struct Failure: Error, Sendable, CustomStringConvertible {
        package let reason: String
        /// The `errno` of the call that failed.
        package let code: Int32

        init(_ code: Int32, at path: String? = nil) {
            let message = String(cString: strerror(code))
            reason = path.map { "\($0): \(message)" } ?? message
            self.code = code
        }

        package var description: String { reason }

        /// The failure of the latest call, from `errno`.
        package static func last() -> Failure { Failure(errno) }

        /// The same, with the file's path in the reason.
        static func last(_ path: String) -> Failure { Failure(errno, at: path) }
    }

    /// Reads the whole file; `nil` if it does not exist. A file that exists but cannot be read is an error, never an absence.
    package static func read(_ path: String) throws(Failure) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        if file < 0 && errno == ENOENT { return nil }
        guard file >= 0 else { throw .last(path) }
        defer { close(file) }
        do throws(PrivateFile.Failure) {
            return try OpenFile.read(file)
        } catch {
            throw Failure(error.code, at: path)
        }
    }

    /// Reads the whole file, which must exist.
    package static func contents(of path: String) throws(Failure) -> [UInt8] {
        guard let bytes = try read(path) else { throw Failure(ENOENT, at: path) }
        return bytes
    }

    /// Whether something has that name: a file, a folder, or a link, wherever it leads. A name that cannot be looked up is an error,
    /// never an absence.
    package static func exists(_ path: String) throws(Failure) -> Bool {
        try status(path) != nil
    }

    /// Whether both names exist and are names of the same file.
    package static func isSame(_ path: String, _ other: String) throws(Failure) -> Bool {
        guard let one = try status(path), let other = try status(other) else { return false }
        return one.st_dev == other.st_dev && one.st_ino == other.st_ino
    }

    private static func status(_ path: String) throws(Failure) -> stat? {
        var status = stat()
        if lstat(path, &status) == 0 { return status }
        guard errno == ENOENT else { throw .last(path) }
        return nil
    }

    /// Makes the folder `path` with mode 0700; an existing folder stays unchanged.
    package static func makeFolder(_ path: String) throws(Failure) {
        if mkdir(path, 0o700) != 0 && errno != EEXIST { throw .last() }
        try synchronizeFolder(Path.folder(of: path))
    }

    /// Writes a new file beside `path` with mode 0600, syncs it, renames it over `path`, and syncs the folder.
    ///
    /// Each process has its own new file, so after two concurrent writes the file of one of them is complete at `path`.
    package static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
        let fresh = "\(path).\(getpid()).new"
        do throws(Failure) {
            try writeSynced(bytes, to: fresh)
            guard rename(fresh, path) == 0 else { throw .last() }
        } catch {
            unlink(fresh)
            throw error
        }
        try synchronizeFolder(Path.folder(of: path))
    }

    /// Overwrites the beginning of an existing file and syncs it, which takes no space if the file is long enough. Later bytes of
    /// the file stay.
    package static func overwrite(_ bytes: [UInt8], at path: String) throws(Failure) {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw .last(path) }
        defer { close(file) }
        guard pwrite(file, bytes, bytes.count, 0) == bytes.count, fsync(file) == 0 else { throw .last(path) }
    }

    /// Moves a file or folder to another name in the same file system, over a file that has the name.
    ///
    /// After a power loss a file may have both names, of a rename that became durable in one of the two folders only. rename(2) then
    /// succeeds and changes nothing (POSIX.1-2017, `rename`); here the old name is removed.
    package static func move(_ path: String, to target: String) throws(Failure) {
        guard rename(path, target) == 0 else { throw .last() }
        guard try !exists(path) || unlink(path) == 0 else { throw .last() }
    }

    /// Whether a file of that name is left from a ``write(_:to:)`` whose process ended before the rename.
    package static func isUnfinished(_ name: String) -> Bool {
        let words = name.split(separator: ".", omittingEmptySubsequences: false).suffix(2)
        return words.count == 2 && words.last == "new" && name.utf8.count > words.joined().utf8.count + 2
            && words.first.map { !$0.isEmpty && $0.utf8.allSatisfy { $0.isASCIIDigit } } == true
    }

    private static func writeSynced(_ bytes: [UInt8], to path: String) throws(Failure) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .last() }
        do throws(Failure) {
            // A file that a crash left there may have another mode.
            guard fchmod(file, 0o600) == 0 else { throw .last() }
            try OpenFile.write(bytes, to: file)
            guard fsync(file) == 0 else { throw .last() }
        } catch {
            close(file)
            throw error
        }
        guard close(file) == 0 else { throw .last() }
    }

    /// Writes a new file that only its owner can read, durably.
    ///
    /// - Returns: false if there is a file of that name, which then is unchanged; of two programs that write one, one succeeds.
    package static func writeNew(_ bytes: [UInt8], to path: String) throws(Failure) -> Bool {
        let unfinished = "\(path).\(getpid()).new"
        try writeSynced(bytes, to: unfinished)
        defer { unlink(unfinished) }
        guard link(unfinished, path) == 0 else {
            guard errno == EEXIST else { throw .last(path) }
            return false
        }
        try synchronizeFolder(Path.folder(of: path))
        return true
    }

    /// Makes creations, renames and removals in a folder durable.
    package static func synchronizeFolder(_ path: String) throws(Failure) {
        try synchronize(path.isEmpty ? "." : path, O_DIRECTORY)
    }

    /// Makes the content of a file durable.
    package static func synchronize(_ path: String) throws(Failure) { try synchronize(path, 0) }

    private static func synchronize(_ path: String, _ flags: Int32) throws(Failure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | flags)
        guard descriptor >= 0 else { throw .last() }
        let synced = fsync(descriptor)
        close(descriptor)
        guard synced == 0 else { throw .last() }
    }
}

extension PrivateFile {
    /// Makes the folder `path`, and those above it that are missing; existing ones stay unchanged.
    package static func makeFolders(_ path: String, mode: mode_t = 0o700) throws(Failure) {
        // A relative name without a folder is in the current one, which exists.
        if path.isEmpty { return }
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
        if mkdir(path, mode) == 0 { return }
        let parent = Path.folder(of: path)
        guard errno == ENOENT, parent != path else { throw .last(path) }
        try makeFolders(parent, mode: mode)
        // Another process may have made it meanwhile.
        guard mkdir(path, mode) == 0 || errno == EEXIST else { throw .last(path) }
    }
}
