import CLinux
import DeviceClient
import Glibc

/// The kernel's notifications (inotify) about directories. Used by one actor.
final class DirectoryWatch {
    /// A change in a watched directory.
    enum Change: Hashable {
        /// A file or a directory was created, closed after writing, or renamed to this path.
        case entry(String, isDirectory: Bool)
        /// Notifications were lost: the directories must be read.
        case overflow
    }

    /// The reason why notifications are not available.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let code: Int32

        var description: String {
            code == ENOSPC
                ? "cannot watch \(path): all inotify watches are in use; raise fs.inotify.max_user_watches"
                : "cannot watch \(path): \(String(cString: strerror(code)))"
        }
    }

    let descriptor: Int32
    private var paths: [Int32: String] = [:]
    private var numbers: [String: Int32] = [:]

    init() throws(Failure) {
        descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0 else { throw Failure(path: "directories", code: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Watches a directory. One that is already watched, or does not exist any more, is ignored.
    func add(_ path: String) throws(Failure) {
        let mask = UInt32(IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR | IN_EXCL_UNLINK)
        let number = inotify_add_watch(descriptor, path, mask)
        guard number >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return }
            throw Failure(path: path, code: errno)
        }
        // A renamed directory keeps its number, and has a new path.
        if let former = paths.updateValue(path, forKey: number), former != path { numbers[former] = nil }
        numbers[path] = number
    }

    /// Returns all changes since the previous call.
    func changes() -> Set<Change> {
        var changes: Set<Change> = []
        let size = 64 * 1024
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
        defer { buffer.deallocate() }
        while true {
            let count = read(descriptor, buffer.baseAddress, size)
            guard count > 0 else { return changes }
            var offset = 0
            while offset + 16 <= count {
                let number = buffer.load(fromByteOffset: offset, as: Int32.self)
                let mask = buffer.load(fromByteOffset: offset + 4, as: UInt32.self)
                let length = Int(buffer.load(fromByteOffset: offset + 12, as: UInt32.self))
                let name = buffer[(offset + 16)..<min(count, offset + 16 + length)].prefix { $0 != 0 }
                offset += 16 + length
                if mask & UInt32(IN_Q_OVERFLOW) != 0 { changes.insert(.overflow) }
                if mask & UInt32(IN_IGNORED) != 0 {
                    if let path = paths.removeValue(forKey: number), numbers[path] == number { numbers[path] = nil }
                } else if let path = paths[number], !name.isEmpty {
                    let isDirectory = mask & UInt32(IN_ISDIR) != 0
                    changes.insert(.entry("\(path)/\(String(decoding: name, as: UTF8.self))", isDirectory: isDirectory))
                }
            }
        }
    }
}

/// A file in one of the directories of the configuration.
struct WatchedFile: Sendable {
    let source: SourceIdentity
    let relativePath: String
    /// The number of the directory in the configuration.
    let directory: Int
}
