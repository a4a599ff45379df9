import HTTPTypes
import StoreProtocol

/// Properties of the reader of bodies in chunks.
enum ChunkProperties {
    /// Bodies with and without a trailer and signatures, and one for each rule that rejects bodies. The first byte is the declared
    /// length, the second says whether there is a trailer.
    static let seeds: [[UInt8]] =
        [
            "\u{5}\u{0}5\r\nhello\r\n0\r\n\r\n", "\u{5}\u{0}2\r\nhe\r\n3;a=b\r\nllo\r\n0\r\n\r\n",
            "\u{0}\u{0}0\r\n\r\n",
            "\u{5}\u{1}5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n",
            "\u{5}\u{1}5\r\nhello\r\n0\r\nx-amz-checksum-crc32 : AAAA\r\n\r\n", "\u{5}\u{1}5\r\nhello\r\n0\r\n\r\n",
            "\u{6}\u{0}5\r\nhello\r\n0\r\n\r\n", "\u{5}\u{0}5\nhello\n0\n\n", "\u{5}\u{0}-5\r\nhello\r\n",
            "\u{5}\u{0}00000000000000005\r\nhello\r\n", "\u{5}\u{0}5\r\nhello!\r\n", "\u{5}\u{0}0\r\n\r\n0\r\n\r\n",
        ].map { Array($0.utf8) }

    /// Checks that what is read does not depend on the pieces in which a body arrives, and that a complete body has its length.
    static func check(_ input: [UInt8]) {
        guard input.count >= 2 else { return }
        let (length, hasTrailer, body) = (Int(input[0]), input[1] & 1 == 1, Array(input[2...]))
        let whole = read(body, length, hasTrailer, by: max(1, body.count))
        if let whole { precondition(whole.count == length, "a complete body has another length than was declared") }
        for size in [1, 3] {
            precondition(read(body, length, hasTrailer, by: size) == whole, "a body in pieces is read as another one")
        }
    }

    /// Returns the contents of the chunks; `nil` for a body that is refused.
    private static func read(_ body: [UInt8], _ length: Int, _ hasTrailer: Bool, by size: Int) -> [UInt8]? {
        var fields: HTTPFields = [
            "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "x-amz-decoded-content-length": "\(length)",
        ]
        if hasTrailer { fields.append("x-amz-trailer", "x-amz-checksum-crc32") }
        guard let target = try? RequestTarget("/bucket/key", host: "h", domains: []),
            let payload = try? S3Dialect(publicAuthority: nil).payload(
                of: SignedRequest(method: "PUT", target: target, fields: fields), .chunked, nil),
            case .chunks(let reader) = payload.framing
        else { fatalError("the request is refused") }
        var contents: [UInt8] = []
        do {
            for start in stride(from: 0, to: body.count, by: size) {
                let piece = Array(body[start..<min(start + size, body.count)])
                try piece.withUnsafeBytes { bytes in try reader.read(bytes) { contents += $0 } }
                precondition(contents.count <= length, "a body has more bytes than were declared")
            }
            try reader.finish()
        } catch {
            return nil
        }
        precondition(hasTrailer == (payload.checks.checksum != nil), "a trailer is missing")
        return contents
    }
}
