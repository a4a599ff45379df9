package import CLinux

extension SourceIdentity {
    /// Takes the identity from the status of the file at `path`.
    package init(path: String, _ status: stat) {
        self.init(
            path: path, size: Int64(status.st_size),
            modified: status.st_mtim.nanoseconds, device: UInt64(status.st_dev), inode: UInt64(status.st_ino),
            changed: status.st_ctim.nanoseconds)
    }
}

extension timespec {
    /// Nanoseconds since 1970. A file system may have any number of seconds here: a time before 1677 or after 2262 is the
    /// first or the last that 64 bits hold.
    fileprivate var nanoseconds: Int64 {
        let (whole, isTooFar) = Int64(tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isJustTooFar) = whole.addingReportingOverflow(Int64(tv_nsec))
        return isTooFar || isJustTooFar ? (tv_sec < 0 ? .min : .max) : sum
    }
}
