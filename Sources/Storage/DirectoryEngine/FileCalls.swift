import Basics
import CLinux
import Glibc
import ObjectStore

/// The system calls whose failures matter most, and that no file system lets fail on demand, so that tests replace them.
struct FileCalls: Sendable {
    /// The arguments are descriptor, buffer, its size, offset.
    var read: @Sendable (Int32, UnsafeMutableRawPointer?, Int, Int) -> Int = { pread($0, $1, $2, $3) }
    /// The arguments are descriptor, bytes, their count, offset.
    var write: @Sendable (Int32, UnsafeRawPointer?, Int, Int) -> Int = { pwrite($0, $1, $2, $3) }
    var synchronize: @Sendable (Int32) -> Int32 = { fdatasync($0) }
    /// The arguments are the path of a file, and its second path.
    var link: @Sendable (String, String) -> Int32 = { Glibc.link($0, $1) }
    /// Makes the names in a folder durable; takes its path.
    var synchronizeFolder: @Sendable (String) throws(PrivateFile.Failure) -> Void = PrivateFile.synchronizeFolder
    /// Makes everything in a file system durable, including names and modes; takes the path of a folder in it.
    var synchronizeFileSystem: @Sendable (String) throws(PrivateFile.Failure) -> Void = {
        (path) throws(PrivateFile.Failure) in
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .last() }
        defer { close(folder) }
        guard linux_synchronize_file_system(folder) == 0 else { throw .last() }
    }
}

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
