import Glibc

/// What a file of the store could not do.
enum StorageFailure: Error, Equatable, CustomStringConvertible {
    /// No room: the disk, a quota, or the file system's limit on one file.
    case full
    /// The file is not there.
    case missing
    case other(errno: Int32)

    var description: String {
        switch self {
        case .full: "there is no room"
        case .missing: "the file is not there"
        case .other(let code): String(cString: strerror(code))
        }
    }

    /// From the `errno` of the call that just failed.
    static func last() -> StorageFailure {
        switch errno {
        case ENOSPC, EDQUOT, EFBIG: .full
        case ENOENT: .missing
        case let code: .other(errno: code)
        }
    }
}
