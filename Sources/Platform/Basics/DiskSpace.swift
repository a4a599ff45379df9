import Glibc

/// The space of a file system.
package enum DiskSpace {
    /// Returns the bytes that this process can still write to the file system of `path`; `nil`, with `errno` set, if that is
    /// unknown.
    package static func available(at path: String) -> Int64? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let (bytes, isTooMuch) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isTooMuch ? .max : Int64(clamping: bytes)
    }
}
