import Glibc

/// Pages of a file in the kernel's page cache.
///
/// A page that could not be written to the disk stays in the cache, and counts as written from then on. What is written
/// over it later may never reach the disk although its sync succeeds: ext4 goes on with the block of the first attempt,
/// which never became part of the file. So such a page has to leave the cache before anything relies on it.
package enum CachedPages {
    private static let size = Int(sysconf(Int32(_SC_PAGESIZE)))

    /// Has the kernel forget the pages within `range` that it takes for written; they are read from the disk the next time.
    ///
    /// Pages that are still to be written stay. A page that begins before `range` stays, one that ends behind it goes.
    /// Advice that a file system does not follow changes nothing.
    package static func drop(_ range: Range<Int>, of descriptor: Int32) {
        let end = (range.upperBound + size - 1) / size * size
        posix_fadvise(descriptor, range.lowerBound, end - range.lowerBound, POSIX_FADV_DONTNEED)
    }
}
