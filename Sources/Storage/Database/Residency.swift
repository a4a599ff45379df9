import Glibc

/// Which pages of a file the page cache has: mincore(2) on a mapping of it.
final class Residency {
    /// The size of the file in bytes.
    let size: Int
    private let mapping: UnsafeMutableRawPointer?
    private let pageSize = sysconf(Int32(_SC_PAGESIZE))
    private var pages: [UInt8] = []

    /// `nil`, with `errno` set, where the file cannot be mapped.
    ///
    /// - Parameter descriptor: one that may write, or the kernel says of every page that it is there.
    init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        size = Int(status.st_size)
        // Nothing of nothing can be mapped.
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

    /// Whether any page of the range is cached; also where the kernel does not say.
    ///
    /// - Parameter range: bytes; its start is a multiple of the page size.
    func isCached(_ range: Range<Int>) -> Bool {
        let range = range.clamped(to: 0..<size)
        guard let mapping, !range.isEmpty else { return false }
        let count = (range.count + pageSize - 1) / pageSize
        if pages.count < count { pages = [UInt8](repeating: 0, count: count) }
        guard mincore(mapping + range.lowerBound, range.count, &pages) == 0 else { return true }
        return pages[..<count].contains { $0 & 1 != 0 }
    }
}
