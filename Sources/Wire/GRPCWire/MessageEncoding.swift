import CZlib

/// The compression of messages: the values of `grpc-encoding` other than `identity`.
///
/// Source: gRPC over HTTP/2, "Message-Encoding"; the formats are RFC 1952 and RFC 1950.
public enum MessageEncoding: String, Sendable, CaseIterable {
    case gzip
    case deflate

    public enum Failure: Error, Sendable, Hashable {
        /// The bytes are not one complete stream of this format.
        case malformed
        /// The decompressed message is longer than the limit, in bytes.
        case tooLong(limit: Int)
    }

    /// Returns the supported encodings of a list such as `gzip, br;q=0.5`, the preferred one first. A weight of 0 excludes an
    /// encoding (RFC 9110, section 12.5.3); other weights are ignored.
    public static func accepted(_ list: String) -> [MessageEncoding] {
        let names = list.lowercased().split(separator: ",").filter { !$0.hasSuffix(";q=0") }
        let known = names.compactMap {
            MessageEncoding(rawValue: String($0.trimmingPrefix(" ").prefix { $0 != ";" && $0 != " " }))
        }
        return allCases.filter(known.contains)
    }

    /// zlib's window bits: 15, plus 16 for gzip's framing.
    private var windowBits: Int32 { self == .gzip ? 31 : 15 }

    public func compress(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        let started = deflateInit2_(
            &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
        precondition(started == Z_OK, "zlib has no memory for a stream")
        defer { deflateEnd(&stream) }
        let capacity = Int(deflateBound(&stream, UInt(bytes.count)))
        return [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            stream.next_in = UnsafeMutablePointer(mutating: bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
            stream.avail_in = UInt32(bytes.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(output.count)
            CZlib.deflate(&stream, Z_FINISH)
            count = output.count - Int(stream.avail_out)
        }
    }

    /// - Parameter limit: the longest result, in bytes. Memory grows with the output and never beyond the limit.
    public func decompress(_ bytes: UnsafeRawBufferPointer, limit: Int) throws(Failure) -> [UInt8] {
        var stream = z_stream()
        let started = inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(started == Z_OK, "zlib has no memory for a stream")
        defer { inflateEnd(&stream) }
        stream.next_in = UnsafeMutablePointer(mutating: bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.avail_in = UInt32(bytes.count)
        var result: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let status = piece.withUnsafeMutableBufferPointer { output in
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                return inflate(&stream, Z_NO_FLUSH)
            }
            let made = piece.count - Int(stream.avail_out)
            guard result.count + made <= limit else { throw .tooLong(limit: limit) }
            result.append(contentsOf: piece[..<made])
            if status == Z_STREAM_END {
                guard stream.avail_in == 0 else { throw .malformed }
                return result
            }
            guard status == Z_OK, made > 0 || stream.avail_in > 0 else { throw .malformed }
        }
    }
}
