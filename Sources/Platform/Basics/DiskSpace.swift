import Glibc

/// The space of a file system.
package enum DiskSpace {
    /// What the file system at `path` has left for this process; bytes. `nil`, with `errno` set, where it cannot be asked.
    package static func available(at path: String) -> Int64? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let (bytes, isTooMuch) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isTooMuch ? .max : Int64(clamping: bytes)
    }
}
