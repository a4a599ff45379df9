import Synchronization

/// Memory for one block of a body, placed as direct writing needs it.
///
/// Whoever holds a block is the only one that changes it; those it is handed to next only read, until all have left.
final class AlignedBlock: @unchecked Sendable {  // Written by its holder alone; see above.
    /// Bytes. A disk takes blocks of this size at full speed, and a few of them for each request cost little memory.
    static let size = 1 << 20
    /// What direct writing asks of addresses, offsets and lengths; no disk's sector is larger.
    static let alignment = 4096

    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: alignment)
    private let readers = Atomic(0)

    /// So many are going to read it.
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
