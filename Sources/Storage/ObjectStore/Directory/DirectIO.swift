import CLinux
import Glibc

/// Whether data files are written past the page cache (O_DIRECT), in aligned blocks. Buffered writing of the same bytes
/// takes several times the processor time, and leaves the sync at the end more to do.
package enum DirectIO: Sendable {
    /// Where the file system of the data directory takes it.
    case probe
    case off

    /// Tries it with a file in `folder`, which leaves no trace.
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
