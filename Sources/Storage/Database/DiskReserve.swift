import Basics
import Glibc

/// Disk space that is set aside for the time when the disk is full: a file beside the database whose blocks are allocated.
///
/// Deleting takes space before it makes any, since rows and the log grow first. So the first write that finds no space
/// releases the file's blocks, and from then on only writes that may use the reserve are taken. It is set aside again once so
/// much is free that the next write does not release it at once.
///
/// A file of size 0 tells the next process that the reserve is released; where there is no file, there never was the space.
final class DiskReserve: Sendable {
    private enum State {
        case held
        case released
        /// Not set aside yet, for lack of space or because its size is 0: every write is taken, as long as there is space.
        case absent
    }

    /// A start on a disk with less space than this needs the reserve, whatever error told of it; bytes.
    private static let startSpace: Int64 = 4 << 20

    private let path: String
    private let size: Int64
    private let margin: Int64
    private let onChange: @Sendable (Bool) -> Void
    private let state: Lock<State>

    /// - Parameters:
    ///   - path: the file's.
    ///   - size: bytes; 0 = no reserve.
    ///   - margin: bytes that stay free beside the reserve when it is set aside.
    ///   - onChange: called with `true` when it was set aside after a release, with `false` when it was released.
    init(path: String, size: Int64, margin: Int64, onChange: @escaping @Sendable (Bool) -> Void = { _ in }) {
        self.path = path
        self.size = size
        self.margin = margin
        self.onChange = onChange
        var status = stat()
        let isThere = stat(path, &status) == 0
        if size == 0 {
            unlink(path)
            state = Lock(.absent)
        } else if isThere && Int64(status.st_size) == size && Int64(status.st_blocks) * 512 >= size {
            state = Lock(.held)
        } else {
            state = Lock(isThere ? .released : .absent)
        }
        restore()
    }

    /// Whether the reserve was released and could not be set aside since.
    var isReleased: Bool { state.withLock { $0 == .released } }

    /// Whether a write that may not use the reserve is to be tried: not while it is released. Sets it aside again where there
    /// is space.
    func admitsOrdinaryWrites() -> Bool {
        guard isReleased else { return true }
        restore()
        return !isReleased
    }

    /// Gives the reserved blocks back to the file system.
    ///
    /// - Returns: whether there were any.
    func release() -> Bool {
        let isFreed = state.withLock { state in
            guard state == .held, truncate(path, 0) == 0 else { return false }
            state = .released
            return true
        }
        if isFreed { onChange(false) }
        return isFreed
    }

    /// Sets the reserve aside where it is not and there is the space for it, twice over and beside ``margin``.
    func restore() {
        let isRestored = state.withLock { state in
            guard size > 0, state != .held, let free = freeBytes else { return false }
            let wasReleased = state == .released
            guard free >= 2 * size + margin, allocate() else { return false }
            state = .held
            return wasReleased
        }
        if isRestored { onChange(true) }
    }

    /// Runs `body` and, where it fails on a full disk, once more with the reserve released.
    func retrying<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch {
            guard let free = freeBytes, free < Self.startSpace, release() else { throw error }
            return try body()
        }
    }

    private func allocate() -> Bool {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        if ftruncate(file, 0) == 0, posix_fallocate(file, 0, Int(size)) == 0 { return true }
        ftruncate(file, 0)
        return false
    }

    private var freeBytes: Int64? {
        let folder = Path.folder(of: path)
        return DiskSpace.available(at: folder.isEmpty ? "." : folder)
    }
}
