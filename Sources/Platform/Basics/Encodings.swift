/// Hexadecimal text.
package enum Hex {
    package static func lower(_ bytes: some Sequence<UInt8>) -> String { text(Array(bytes), letters: 0x61) }

    package static func upper(_ bytes: some Sequence<UInt8>) -> String { text(Array(bytes), letters: 0x41) }

    /// `nil` unless `text` is an even number of hex digits, in either case.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? { bytes(Array(text.utf8)) }

    // On arrays: what is generic is called from other modules character by character.
    private static func bytes(_ characters: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 2)
        var high: UInt8?
        for character in characters {
            let digit: UInt8
            switch character {
            case 0x30...0x39: digit = character - 0x30
            case 0x41...0x46: digit = character - 0x41 + 10
            case 0x61...0x66: digit = character - 0x61 + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? bytes : nil
    }

    private static func text(_ bytes: [UInt8], letters: UInt8) -> String {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : letters + value - 10 }
        var characters: [UInt8] = []
        characters.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            characters.append(digit(byte >> 4))
            characters.append(digit(byte & 0x0F))
        }
        return String(decoding: characters, as: UTF8.self)
    }
}

/// Base64 (RFC 4648): section 4 with padding, section 5 (`url`) without.
package enum Base64 {
    package static func encode(_ bytes: [UInt8]) -> String { text(bytes, standard, padded: true) }

    package static func encodeURL(_ bytes: [UInt8]) -> String { text(bytes, url, padded: false) }

    /// Takes padding or leaves it out; `nil` for any other character, a wrong length, or stray bits at the end.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? { bytes(Array(text.utf8), standard) }

    /// As `decode`, in the URL-safe alphabet.
    package static func decodeURL(_ text: some StringProtocol) -> [UInt8]? { bytes(Array(text.utf8), url) }

    private static let standard = alphabet("+/")
    private static let url = alphabet("-_")

    private static func alphabet(_ lastTwo: String) -> [UInt8] {
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(lastTwo)".utf8)
    }

    private static func text(_ bytes: [UInt8], _ alphabet: [UInt8], padded: Bool) -> String {
        var characters: [UInt8] = []
        characters.reserveCapacity((bytes.count + 2) / 3 * 4)
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
        return String(decoding: characters, as: UTF8.self)
    }

    private static func bytes(_ text: [UInt8], _ alphabet: [UInt8]) -> [UInt8]? {
        var characters = text
        if characters.last == 0x3D {
            guard characters.count.isMultiple(of: 4) else { return nil }
            characters.removeLast()
            if characters.last == 0x3D { characters.removeLast() }
        }
        guard characters.count % 4 != 1 else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(characters.count * 3 / 4)
        var bits: UInt32 = 0
        var held: UInt32 = 0
        for character in characters {
            let value: UInt8
            switch character {
            case 0x41...0x5A: value = character - 0x41
            case 0x61...0x7A: value = character - 0x61 + 26
            case 0x30...0x39: value = character - 0x30 + 52
            case alphabet[62]: value = 62
            case alphabet[63]: value = 63
            default: return nil
            }
            bits = bits << 6 | UInt32(value)
            held += 6
            if held >= 8 {
                held -= 8
                result.append(UInt8(truncatingIfNeeded: bits >> held))
                bits &= (1 << held) - 1
            }
        }
        return bits == 0 ? result : nil
    }
}
