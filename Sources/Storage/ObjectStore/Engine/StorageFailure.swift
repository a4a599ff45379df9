import Glibc

/// What a file of the store could not do.
enum StorageFailure: Error, Equatable, CustomStringConvertible {
    /// No room: the disk, a quota, or the file system's limit on one file.
    case full
    /// The file is not there.
    case missing
    /// The disk cannot give back what the file holds: this one file is damaged, and reading it again will not help.
    case unreadable(errno: Int32)
    case other(errno: Int32)

    var description: String {
        switch self {
        case .full: "the disk is full"
        case .missing: "the file is missing"
        case .unreadable(let code): "the disk cannot read it (\(String(cString: strerror(code))))"
        case .other(let code): String(cString: strerror(code))
        }
    }

    /// The failure of a call that changes something, from its `errno`.
    static func last() -> StorageFailure { StorageFailure(errno: errno) }

    init(errno code: Int32) {
        switch code {
        case ENOSPC, EDQUOT, EFBIG: self = .full
        case ENOENT: self = .missing
        default: self = .other(errno: code)
        }
    }

    /// The failure of a call that looks at one file or reads it, from its `errno`.
    ///
    /// A sector that cannot be read is EIO through the page cache, and ENODATA past it (`blk_status_to_errno` of
    /// BLK_STS_MEDIUM); wrong protection information is EILSEQ; metadata that a file system finds damaged is EUCLEAN or
    /// EBADMSG.
    static func lastOfReading() -> StorageFailure {
        switch errno {
        case let code where [EIO, ENODATA, EILSEQ, EUCLEAN, EBADMSG].contains(code): .unreadable(errno: code)
        default: last()
        }
    }
}
