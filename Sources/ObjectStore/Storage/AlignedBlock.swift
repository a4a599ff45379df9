/// Memory for one block of a body, placed as direct writing needs it.
///
/// Sendable: whoever holds a block is the only one that does; it is handed over whole.
final class AlignedBlock: @unchecked Sendable {
    /// Bytes. A disk takes blocks of this size at full speed, and a few of them for each request cost little memory.
    static let size = 1 << 20
    /// What direct writing asks of addresses, offsets and lengths; no disk's sector is larger.
    static let alignment = 4096

    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: alignment)

    deinit {
        bytes.deallocate()
    }
}
