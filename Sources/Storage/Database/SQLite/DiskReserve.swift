import Basics
import Glibc
import Synchronization

/// Disk space that is reserved for the time when the disk is full: a file beside the database with allocated blocks.
///
/// A deletion takes space before it frees any, since rows and the log grow first. So the first write without space releases the
/// file's blocks, and from then on only writes that may use the reserve are accepted. It is set aside again once there is enough
/// space that the next write does not release it at once.
///
/// A file of size 0 tells the next process that the reserve is released; without a file, there never was space for it.
final class DiskReserve: Sendable {
    private enum State {
        case held
        case released
        /// Not set aside yet, because there is no space or its size is 0: every write is accepted, as long as there is space.
        case absent
    }

    /// Below this free space in bytes, a start uses the reserve after any error.
    private static let startSpace: Int64 = 4 << 20

    private let path: String
    private let size: Int64
    private let margin: Int64
    private let onChange: @Sendable (Bool) -> Void
    private let state: Lock<State>

    /// - Parameters:
    ///   - path: the path of the file.
    ///   - size: the size in bytes; 0 = no reserve.
    ///   - margin: the bytes that have to stay free in addition when it is set aside.
    ///   - onChange: called with `true` when it was set aside after a release, with `false` when it was released.
    init(path: String, size: Int64, margin: Int64, onChange: @escaping @Sendable (Bool) -> Void = { _ in }) {
        self.path = path
        self.size = size
        self.margin = margin
        self.onChange = onChange
        var status = stat()
        let exists = stat(path, &status) == 0
        if size == 0 {
            unlink(path)
            state = Lock(.absent)
        } else if exists && Int64(status.st_size) == size && Int64(status.st_blocks) * 512 >= size {
            state = Lock(.held)
        } else {
            state = Lock(exists ? .released : .absent)
        }
        restore()
    }

    /// Whether the reserve was released and could not be set aside since.
    var isReleased: Bool { state.withLock { $0 == .released } }

    /// Whether writes that may not use the reserve are accepted, which is not the case while it is released. Sets it aside again if
    /// there is space.
    func admitsOrdinaryWrites() -> Bool {
        guard isReleased else { return true }
        restore()
        return !isReleased
    }

    /// Returns the reserved blocks to the file system.
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

    /// Sets the reserve aside if it is released, and if there is space for twice its size and ``margin``.
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

    /// Runs `body`, and repeats it with the reserve released if it failed on a full disk.
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
