import Basics
import Glibc

/// The system calls whose failures matter most, and which no file system lets fail on demand: a test puts its own here.
struct FileCalls: Sendable {
    /// Descriptor, buffer, its size, offset.
    var read: @Sendable (Int32, UnsafeMutableRawPointer?, Int, Int) -> Int = { pread($0, $1, $2, $3) }
    /// Descriptor, bytes, their count, offset.
    var write: @Sendable (Int32, UnsafeRawPointer?, Int, Int) -> Int = { pwrite($0, $1, $2, $3) }
    var synchronize: @Sendable (Int32) -> Int32 = { fdatasync($0) }
    /// The path of a file, and its second one.
    var link: @Sendable (String, String) -> Int32 = { Glibc.link($0, $1) }
    /// Makes the names in a folder durable, by its path.
    var synchronizeFolder: @Sendable (String) throws(PrivateFile.Failure) -> Void = PrivateFile.synchronizeFolder
}
