/// Base32 (RFC 4648, section 6), which people can type.
package enum Base32 {
    /// The 32 characters, in the order of their values.
    package static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// Encodes without padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        var characters: [UInt8] = []
        characters.reserveCapacity((bytes.count * 8 + 4) / 5)
        var (bits, count) = (UInt32(0), 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                characters.append(alphabet[Int(bits >> UInt32(count) & 31)])
            }
        }
        if count > 0 { characters.append(alphabet[Int(bits << UInt32(5 - count) & 31)]) }
        return String(decoding: characters, as: UTF8.self)
    }
}
