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

    /// Returns the size in bytes of the file system of `path`, without what is reserved for the superuser; `nil`, with `errno` set, if
    /// that is unknown.
    package static func size(at path: String) -> Int64? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let used = UInt64(status.f_blocks) - min(UInt64(status.f_bfree), UInt64(status.f_blocks))
        let (blocks, isTooMany) = used.addingReportingOverflow(UInt64(status.f_bavail))
        let (bytes, isTooMuch) = blocks.multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isTooMany || isTooMuch ? .max : Int64(clamping: bytes)
    }
}

/// Pages of a file in the kernel's page cache.
///
/// A page whose write to the disk failed stays in the cache and counts as written from then on. Data that is written over it later
/// may never reach the disk although its sync succeeds: ext4 reuses the block of the first attempt, which never became part of the
/// file. Such a page therefore has to leave the cache before anything relies on it.
package enum CachedPages {
    private static let size = Int(sysconf(Int32(_SC_PAGESIZE)))

    /// Drops the clean pages within `range` from the cache, so that the next read comes from the disk.
    ///
    /// Dirty pages stay. A page that begins before `range` stays; one that ends after it is dropped. On a file system that ignores
    /// the advice nothing changes.
    package static func drop(_ range: Range<Int>, of descriptor: Int32) {
        // The kernel takes a length of 0 for the rest of the file.
        guard !range.isEmpty else { return }
        let end = (range.upperBound + size - 1) / size * size
        posix_fadvise(descriptor, range.lowerBound, end - range.lowerBound, POSIX_FADV_DONTNEED)
    }

    /// Drops all clean pages of a file from the cache.
    package static func dropAll(of descriptor: Int32) { posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) }
}
