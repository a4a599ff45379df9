import Glibc

/// The bytes of an archive.
package protocol ZipSource {
    /// The length of the archive, in bytes.
    var size: Int64 { get }

    /// Reads at an offset. A read that lies within ``size`` fills the buffer or throws.
    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(ZipError)
}

extension ZipSource {
    func bytes(at offset: Int64, count: Int) throws(ZipError) -> [UInt8] {
        guard offset >= 0, count >= 0, offset <= size, Int64(count) <= size - offset else {
            throw .malformed("a record refers to bytes outside of the archive")
        }
        var bytes = [UInt8](repeating: 0, count: count)
        let result = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(ZipError) in try read(at: offset, into: buffer) }
        }
        try result.get()
        return bytes
    }
}

/// An archive in a file, which the caller keeps open.
package struct ZipFile: ZipSource {
    private let descriptor: Int32
    package let size: Int64

    package init(descriptor: Int32) throws(ZipError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(errno) }
        self.descriptor = descriptor
        size = Int64(status.st_size)
    }

    package func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(ZipError) {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + done)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(errno) }
            // The file was shortened while it is read.
            guard count > 0 else { throw .noEndRecord }
            done += count
        }
    }
}

/// An archive in memory.
package struct ZipBytes: ZipSource {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package var size: Int64 { Int64(bytes.count) }

    package func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(ZipError) {
        buffer.copyBytes(from: bytes[Int(offset)..<Int(offset) + buffer.count])
    }
}
