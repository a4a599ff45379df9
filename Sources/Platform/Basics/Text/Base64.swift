/// Base64 (RFC 4648).
package enum Base64 {
    /// Encodes with the standard alphabet (section 4) and padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        String(decoding: characters(of: bytes, alphabet: standard, padded: true), as: UTF8.self)
    }

    /// Encodes with the URL-safe alphabet (section 5) and no padding.
    package static func encodeURL(_ bytes: [UInt8]) -> String {
        String(decoding: characters(of: bytes, alphabet: url, padded: false), as: UTF8.self)
    }

    /// Appends the result of ``encode(_:)``, without a string in between.
    package static func append(_ bytes: [UInt8], to characters: inout [UInt8]) {
        append(bytes, to: &characters, alphabet: standard, padded: true)
    }

    /// Encodes with the standard alphabet (section 4) and no padding, as text in UTF-8.
    package static func encodeUnpadded(_ bytes: [UInt8]) -> [UInt8] {
        characters(of: bytes, alphabet: standard, padded: false)
    }

    /// Decodes the standard alphabet, with or without padding; `nil` for any other character, a wrong length, or stray bits at the
    /// end.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        bytes(Array(text.utf8), last: (0x2B, 0x2F))
    }

    /// Decodes the URL-safe alphabet, otherwise like ``decode(_:)``.
    package static func decodeURL(_ text: some StringProtocol) -> [UInt8]? {
        let characters = Array(text.utf8)
        return characters.last == 0x3D ? bytes(characters, last: (0x2D, 0x5F)) : decodeURL(characters[...])
    }

    /// Decodes either alphabet, with or without padding, and drops stray bits at the end; `nil` for other characters and wrong
    /// lengths.
    ///
    /// Source: protobuf's JSON mapping, which accepts both alphabets.
    package static func decodeAny(_ text: [UInt8]) -> [UInt8]? { bytes(text, last: nil) }

    /// Decodes the URL-safe alphabet without padding; `nil` for any other character, a wrong length, or stray bits at the end.
    ///
    /// Several times as fast as ``decodeURL(_:)``, for texts of some length.
    package static func decodeURL(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let rest = text.count % 4
        guard rest != 1 else { return nil }
        let count = text.count / 4 * 3 + max(0, rest - 1)
        // Bits that are 0 in every valid group.
        var excess: UInt32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
            text.withUnsafeBufferPointer { text in
                values.withUnsafeBufferPointer { values in
                    func group(_ start: Int, _ length: Int) -> UInt32 {
                        var group: UInt32 = 0
                        for index in start..<start + length {
                            let value = values[Int(text[index])]
                            // An invalid character has more than 6 bits, which a shift would hide.
                            excess |= UInt32(value & 0xC0)
                            group = group << 6 | UInt32(value & 0x3F)
                        }
                        return group << UInt32(6 * (4 - length))
                    }
                    var start = 0
                    while start + 4 <= text.count {
                        let group = group(start, 4)
                        bytes[filled] = UInt8(truncatingIfNeeded: group >> 16)
                        bytes[filled + 1] = UInt8(truncatingIfNeeded: group >> 8)
                        bytes[filled + 2] = UInt8(truncatingIfNeeded: group)
                        (start, filled) = (start + 4, filled + 3)
                    }
                    guard rest > 0 else { return }
                    let last = group(start, rest)
                    for shift in [16, 8].prefix(rest - 1) {
                        bytes[filled] = UInt8(truncatingIfNeeded: last >> UInt32(shift))
                        filled += 1
                    }
                    excess |= last & (rest == 2 ? 0xFFFF : 0xFF)
                }
            }
        }
        return excess == 0 ? bytes : nil
    }

    /// The value of each character of the URL-safe alphabet; 0xFF for others.
    private static let values = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in url.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    private static let standard = alphabet("+/")
    private static let url = alphabet("-_")

    private static func alphabet(_ lastTwo: String) -> [UInt8] {
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(lastTwo)".utf8)
    }

    private static func characters(of bytes: [UInt8], alphabet: [UInt8], padded: Bool) -> [UInt8] {
        var characters: [UInt8] = []
        characters.reserveCapacity((bytes.count + 2) / 3 * 4)
        append(bytes, to: &characters, alphabet: alphabet, padded: padded)
        return characters
    }

    private static func append(
        _ bytes: [UInt8], to characters: inout [UInt8], alphabet: [UInt8], padded: Bool
    ) {
        var index = 0
        while index < bytes.count {
            let taken = min(3, bytes.count - index)
            var group = UInt32(bytes[index]) << 16
            if taken > 1 { group |= UInt32(bytes[index + 1]) << 8 }
            if taken > 2 { group |= UInt32(bytes[index + 2]) }
            for place in 0...taken {
                characters.append(alphabet[Int(group >> UInt32(18 - 6 * place)) & 63])
            }
            if padded && taken < 3 { characters.append(contentsOf: repeatElement(0x3D, count: 3 - taken)) }
            index += taken
        }
    }

    /// - Parameter last: the characters for 62 and 63; `nil` accepts those of both alphabets, and stray bits at the end.
    private static func bytes(_ text: [UInt8], last: (UInt8, UInt8)?) -> [UInt8]? {
        var end = text.count
        if text.last == 0x3D {
            guard end.isMultiple(of: 4) else { return nil }
            end -= text[end - 2] == 0x3D ? 2 : 1
        }
        guard end % 4 != 1 else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(end * 3 / 4)
        var bits: UInt32 = 0
        var held: UInt32 = 0
        // By index: a debug build reads each element of a slice through a coroutine that it allocates.
        for index in 0..<end {
            guard let value = value(of: text[index], last) else { return nil }
            bits = bits << 6 | UInt32(value)
            held += 6
            if held >= 8 {
                held -= 8
                result.append(UInt8(truncatingIfNeeded: bits >> held))
                bits &= (1 << held) - 1
            }
        }
        return bits == 0 || last == nil ? result : nil
    }

    private static func value(of character: UInt8, _ last: (UInt8, UInt8)?) -> UInt8? {
        switch character {
        case 0x41...0x5A: return character - 0x41
        case 0x61...0x7A: return character - 0x61 + 26
        case 0x30...0x39: return character - 0x30 + 52
        default: break
        }
        guard let last else {
            return character == 0x2B || character == 0x2D ? 62 : character == 0x2F || character == 0x5F ? 63 : nil
        }
        return character == last.0 ? 62 : character == last.1 ? 63 : nil
    }
}

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
