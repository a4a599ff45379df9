import Glibc
import Synchronization

/// Memory for one block of a body, aligned for direct writes.
///
/// Only its holder changes the block; those to whom it is passed only read it, until all have finished.
package final class AlignedBlock: @unchecked Sendable {  // Written by its holder alone; see above.
    /// The size in bytes. Disks write blocks of this size at full speed, and a few of them for each request take little memory.
    package static let size = 1 << 20
    /// The alignment of addresses, offsets and lengths for direct writes.
    package static let alignment: Int = requiredAlignment(pageSize: sysconf(Int32(_SC_PAGESIZE)))

    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: alignment)
    private let readers = Atomic(0)

    /// Returns the required alignment. No disk has sectors above 4096 bytes. If pages are larger, such as the 64 KiB of some arm64
    /// kernels, a body that begins within a page must not be written directly: the end of the previous part is written through the
    /// page cache, and the write-back of the shared page would restore the data from before the direct write.
    package static func requiredAlignment(pageSize: Int) -> Int { max(4096, pageSize) }

    /// Sets the number of readers.
    func enter(_ count: Int) {
        readers.store(count, ordering: .relaxed)
    }

    /// - Returns: whether this was the last reader.
    func leave() -> Bool {
        readers.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
    }

    deinit {
        bytes.deallocate()
    }
}
