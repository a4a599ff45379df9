import Basics
import CLinux
import Glibc

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
