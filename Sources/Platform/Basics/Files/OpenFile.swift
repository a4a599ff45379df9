import Glibc

/// Reading and writing through a descriptor: an open file, a pipe or a terminal.
package enum OpenFile {
    /// Returns all bytes from the position of the descriptor to its end.
    package static func read(_ descriptor: Int32) throws(PrivateFile.Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
        defer { piece.deallocate() }
        while true {
            let count = Glibc.read(descriptor, piece.baseAddress, piece.count)
            if count == 0 { return bytes }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .last() }
            bytes += piece[..<count]
        }
    }

    /// Writes all bytes. After a failure, some of them may be written.
    package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(PrivateFile.Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR {
                throw .last()
            }
        }
    }

    package static func write(_ bytes: [UInt8], to descriptor: Int32) throws(PrivateFile.Failure) {
        try write(bytes[...], to: descriptor)
    }

    package static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) throws(PrivateFile.Failure) {
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(PrivateFile.Failure) in try write(bytes, to: descriptor) }
        }.get()
    }

    package static func write(_ text: String, to descriptor: Int32) throws(PrivateFile.Failure) {
        try write(Array(text.utf8), to: descriptor)
    }
}
