import Foundation

/// A file as output.
final class FileSink: ArchiveSink, Sendable {
    private let descriptor: Int32

    /// - Parameter descriptor: remains owned by the caller.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR {
                throw DataDirectory.Problem.last("cannot write")
            }
        }
    }
}

/// A file as input.
final class FileSource: ArchiveSource {
    private let descriptor: Int32

    /// - Throws: ``ArchiveError``.
    init(path: String) throws {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ArchiveError.unreadable(String(cString: strerror(errno))) }
    }

    deinit {
        close(descriptor)
    }

    func read(_ count: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let read = Glibc.read(descriptor, buffer.baseAddress?.advanced(by: filled), count - filled)
                if read == 0 { return }
                if read > 0 {
                    filled += read
                } else if errno != EINTR {
                    throw ArchiveError.unreadable(String(cString: strerror(errno)))
                }
            }
        }
    }
}
