import Glibc
import Synchronization

/// Memory for one block of a body, placed as direct writing needs it.
///
/// A block of memory that only its holder changes; those it is handed to next only read, until all have left.
final class AlignedBlock: @unchecked Sendable {  // Written by its holder alone; see above.
    /// Bytes. A disk takes blocks of this size at full speed, and a few of them for each request cost little memory.
    static let size = 1 << 20
    /// The alignment that direct writing asks of addresses, offsets and lengths.
    static let alignment: Int = requiredAlignment(pageSize: sysconf(Int32(_SC_PAGESIZE)))

    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: alignment)
    private let readers = Atomic(0)

    /// No disk's sector is larger than 4096 bytes. Where pages are, as the 64 KiB of some arm64 kernels, a body that begins
    /// within a page must not be written directly: the end of the part before it is written through the page cache, and
    /// the write-back of the page that both share would put back what was there before the direct write.
    static func requiredAlignment(pageSize: Int) -> Int { max(4096, pageSize) }

    /// Announces `count` readers.
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
