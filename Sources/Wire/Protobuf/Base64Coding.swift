/// Base64 (RFC 4648): how the JSON mapping writes and reads `bytes`, and how descriptors are embedded.
package enum Base64Coding {
    private static let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func append(_ bytes: some Sequence<UInt8>, to text: inout [UInt8]) {
        var bits: UInt32 = 0
        var count = 0
        func sextet(_ shift: Int) -> UInt8 { alphabet[Int(bits >> UInt32(shift) & 0x3F)] }
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 1
            if count == 3 {
                text += [sextet(18), sextet(12), sextet(6), sextet(0)]
                (bits, count) = (0, 0)
            }
        }
        if count == 0 { return }
        bits <<= UInt32(8 * (3 - count))
        let padding = UInt8(ascii: "=")
        text += [sextet(18), sextet(12), count == 2 ? sextet(6) : padding, padding]
    }

    /// The standard and the URL-safe alphabet, with or without padding; `nil` for anything else.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.underestimatedCount / 4 * 3 + 2)
        var bits: UInt32 = 0
        var count = 0
        var characters = 0
        var padding = 0
        for character in text {
            characters += 1
            if character == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let sextet = sextet(of: character) else { return nil }
            bits = bits << 6 | UInt32(sextet)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        // One character left over is six bits: no byte. Padding fills up to a multiple of four, or is not there.
        if count == 6 || padding > 2 || (padding > 0 && characters % 4 != 0) { return nil }
        return bytes
    }

    private static func sextet(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
