/// The bytes of a recording.
package protocol MCAPSource {
    /// The length of the file in bytes.
    var size: Int64 { get }

    /// Reads at an offset. A read within ``size`` fills the buffer or throws.
    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(MCAPError)
}

extension MCAPSource {
    func bytes(at offset: Int64, count: Int64) throws(MCAPError) -> [UInt8] {
        guard offset >= 0, count >= 0, offset <= size, count <= size - offset else {
            throw .malformed("a record refers to bytes outside of the file")
        }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let result = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(MCAPError) in try read(at: offset, into: buffer) }
        }
        try result.get()
        return bytes
    }
}

/// A recording in memory.
package struct MCAPBytes: MCAPSource {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package var size: Int64 { Int64(bytes.count) }

    package func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(MCAPError) {
        buffer.copyBytes(from: bytes[Int(offset)..<Int(offset) + buffer.count])
    }
}
