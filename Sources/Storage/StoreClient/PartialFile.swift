import Basics
import Crypto
import Glibc
import HTTPClient

/// An incomplete file, with the checksum to be compared at the end.
///
/// Sendable although it is mutable: one exchange, or one copy, at a time writes to it.
package final class PartialFile: @unchecked Sendable {  // used by one task at a time
    package typealias Failure = FileDownload.LocalFailure

    private let path: String
    /// The path for people.
    private let shown: String
    private let descriptor: Int32
    private let synchronize: @Sendable (Int32) -> Int32
    package private(set) var size: Int64 = 0
    private var digest = ContentDigest()

    /// Returns the name of the incomplete file of an object. A digest of the object's id is part of it: the file is neither one that
    /// somebody named so, nor that of another object of the name. A long name is shortened.
    package static func name(for name: String, of id: String) -> String {
        let ending = ".\(Hex.lower(Digest.sha256(Array(id.utf8)).prefix(8))).part"
        return name.prefix(bytes: RelativePath.longestName - ending.utf8.count) + ending
    }

    /// Opens and reads the file of an earlier run, and locks it.
    ///
    /// - Parameters:
    ///   - shown: the path in messages; `nil` = the file's own.
    ///   - synchronize: fsync(2), which tests replace.
    package init(
        _ path: String, shownAs shown: String? = nil,
        synchronize: @escaping @Sendable (Int32) -> Int32 = { fsync($0) }
    ) throws {
        self.path = path
        self.shown = shown ?? path
        self.synchronize = synchronize
        descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            throw Failure.last("write", self.shown, exists: (try? PrivateFile.exists(path)) == true)
        }
        // From here on `deinit` closes it after a failure.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw Failure("another process writes to", self.shown) }
        do {
            let file = try FileReader(path)
            try forgetUnwritten(size: Int(try file.status().st_size))
            let whole = 0..<Int64(try file.status().st_size)
            guard let digest = try file.digest(of: whole) else {
                throw Failure("cannot read", self.shown, "it became shorter")
            }
            self.digest = digest
            size = whole.upperBound
        } catch let failure as FileReader.Failure {
            throw Failure("cannot read", self.shown, failure.reason)
        }
    }

    deinit {
        close(descriptor)
    }

    /// Keeps only bytes that are on the disk: an earlier run may have ended because of a failed sync, and the page cache would
    /// return its bytes as if they were written.
    private func forgetUnwritten(size: Int) throws {
        guard synchronize(descriptor) == 0 else { return try truncate() }
        CachedPages.drop(0..<size, of: descriptor)
    }

    package var crc64: UInt64 { digest.crc64 }

    package func append(_ bytes: UnsafeRawBufferPointer) throws {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(size))
            guard count > 0 else { throw Failure.last("write", shown) }
            digest.update(UnsafeRawBufferPointer(rebasing: rest[..<count]))
            size += Int64(count)
            written += count
        }
    }

    /// Removes an empty file, which cannot be continued.
    func removeIfEmpty() {
        if size == 0 { unlink(path) }
    }

    package func truncate() throws {
        guard ftruncate(descriptor, 0) == 0 else { throw Failure.last("empty", shown) }
        digest = ContentDigest()
        size = 0
    }

    /// Makes the bytes durable, then renames the file, and makes the name durable.
    ///
    /// - Throws: `LocalFailure`. If the bytes cannot be made durable, none of them is kept: a second sync would succeed without
    ///   writing them.
    package func finish(as final: String) throws {
        guard synchronize(descriptor) == 0 else {
            let failure = Failure.last("write", shown)
            try truncate()
            throw failure
        }
        guard rename(path, final) == 0 else { throw Failure.last("rename", shown) }
        do {
            try PrivateFile.synchronizeFolder(Path.folder(of: final))
        } catch {
            throw Failure("cannot write", shown, error.reason)
        }
    }
}
