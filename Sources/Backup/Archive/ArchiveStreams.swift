import Basics
import Glibc
import Synchronization

/// A sequential output; writing blocks until the bytes are accepted.
protocol ArchiveSink: AnyObject {
    func write(_ bytes: UnsafeRawBufferPointer) throws
}

/// A sequential input.
package protocol ArchiveSource: AnyObject {
    /// Reads up to `count` bytes.
    ///
    /// - Returns: the bytes; fewer than `count` only at the end.
    func read(_ count: Int) throws -> [UInt8]
}

extension ArchiveSink {
    func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try write($0) }
    }
}

extension ArchiveSource {
    /// - Throws: `truncated` if there are fewer bytes.
    func readExactly(_ count: Int) throws -> [UInt8] {
        let bytes = try read(count)
        guard bytes.count == count else { throw ArchiveError.truncated }
        return bytes
    }
}

/// A file as output.
final class FileSink: ArchiveSink, Sendable {
    private let descriptor: Int32

    /// - Parameter descriptor: remains owned by the caller.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        do {
            try OpenFile.write(bytes, to: descriptor)
        } catch {
            throw DataDirectory.Problem(description: "cannot write: \(error)")
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

/// An input that another thread can end.
final class StoppableSource: ArchiveSource {
    /// The request to end an input.
    final class Stop: Sendable {
        private let isSet = Lock(false)

        func set() {
            isSet.withLock { $0 = true }
        }

        fileprivate func check() throws {
            if isSet.withLock({ $0 }) { throw CancellationError() }
        }
    }

    private let source: any ArchiveSource
    private let stop: Stop

    init(_ source: any ArchiveSource, until stop: Stop) {
        self.source = source
        self.stop = stop
    }

    func read(_ count: Int) throws -> [UInt8] {
        try stop.check()
        return try source.read(count)
    }
}
