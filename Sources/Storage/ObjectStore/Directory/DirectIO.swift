import CLinux
import Glibc

/// Whether data files are written directly, without the page cache (O_DIRECT), in aligned blocks. Buffered writes of the same bytes
/// take several times the processor time, and leave more work for the sync at the end.
package enum DirectIO: Sendable {
    /// If the file system of the data directory supports it.
    case probe
    case off

    /// Tests it with a temporary file in `folder`.
    func isUsable(in folder: String) -> Bool {
        guard self == .probe else { return false }
        let path = "\(folder)/direct-io-probe"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        unlink(path)
        let block = UnsafeMutableRawBufferPointer.allocate(
            byteCount: AlignedBlock.alignment, alignment: AlignedBlock.alignment)
        defer { block.deallocate() }
        block.initializeMemory(as: UInt8.self, repeating: 0)
        return linux_set_direct(descriptor, true) == 0
            && pwrite(descriptor, block.baseAddress, block.count, 0) == block.count
    }
}
