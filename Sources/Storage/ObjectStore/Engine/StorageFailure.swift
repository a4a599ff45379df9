import Database
import Glibc

/// The failure of an operation on a file of the store.
package enum StorageFailure: Error, Equatable, CustomStringConvertible {
    /// There is no space: on the disk, in a quota, or below the file system's limit of one file.
    case full
    /// The file is not there.
    case missing
    /// The disk cannot read the file's contents: this one file is damaged, and reading it again will not help.
    case unreadable(errno: Int32)
    /// The engine behind the store did not do what it was told, for this reason; the same may succeed later.
    case engine(String)
    case other(errno: Int32)

    package var description: String {
        switch self {
        case .full: "the disk is full"
        case .missing: "the file is missing"
        case .unreadable(let code): "the disk cannot read it (\(String(cString: strerror(code))))"
        case .engine(let reason): reason
        case .other(let code): String(cString: strerror(code))
        }
    }

    /// The failure of a call that changes something, from its `errno`.
    package static func last() -> StorageFailure { StorageFailure(errno: errno) }

    package init(errno code: Int32) {
        switch code {
        case ENOSPC, EDQUOT, EFBIG: self = .full
        case ENOENT: self = .missing
        default: self = .other(errno: code)
        }
    }

    /// The failure of a call that examines or reads one file, from its `errno`.
    ///
    /// A sector that cannot be read is EIO through the page cache, and ENODATA without it (`blk_status_to_errno` of
    /// BLK_STS_MEDIUM); wrong protection information is EILSEQ; metadata that a file system finds damaged is EUCLEAN or EBADMSG.
    package static func lastOfReading() -> StorageFailure {
        switch errno {
        case let code where [EIO, ENODATA, EILSEQ, EUCLEAN, EBADMSG].contains(code): .unreadable(errno: code)
        default: last()
        }
    }
}

/// The consequence of a disk or database failure for a client, which may retry after both.
package enum StorageOutage: Sendable {
    /// There is no space.
    case full
    case unavailable

    /// Returns `nil` for other errors, and for those that a retry does not help against.
    package init?(_ error: any Error) {
        switch error {
        case StorageFailure.full, DatabaseError.full: self = .full
        case StorageFailure.unreadable, StorageFailure.engine, StorageFailure.other, DatabaseError.overloaded,
            DatabaseError.locked,
            DatabaseError.unavailable, DatabaseError.closed, DatabaseError.writerEnded, DatabaseError.outcomeUnknown:
            self = .unavailable
        default: return nil
        }
    }
}
