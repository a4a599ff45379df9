import Glibc

/// The pages of a file in the page cache, determined with mincore(2) on a mapping of it.
final class Residency {
    /// The size of the file in bytes.
    let size: Int
    private let mapping: UnsafeMutableRawPointer?
    private let pageSize = sysconf(Int32(_SC_PAGESIZE))
    private var pages: [UInt8] = []

    /// Returns `nil`, with `errno` set, if the file cannot be mapped.
    ///
    /// - Parameter descriptor: a writable one; for others the kernel reports every page as cached.
    init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        size = Int(status.st_size)
        // An empty file cannot be mapped.
        guard size > 0 else {
            mapping = nil
            return
        }
        let mapped = mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0)
        guard let mapped, mapped != MAP_FAILED else { return nil }
        mapping = mapped
    }

    deinit {
        if let mapping { munmap(mapping, size) }
    }

    /// Whether any page of the range is cached, or the kernel does not tell.
    ///
    /// - Parameter range: a range of bytes that starts at a multiple of the page size.
    func isCached(_ range: Range<Int>) -> Bool {
        let range = range.clamped(to: 0..<size)
        guard let mapping, !range.isEmpty else { return false }
        let count = (range.count + pageSize - 1) / pageSize
        if pages.count < count { pages = [UInt8](repeating: 0, count: count) }
        guard mincore(mapping + range.lowerBound, range.count, &pages) == 0 else { return true }
        return pages[..<count].contains { $0 & 1 != 0 }
    }
}
