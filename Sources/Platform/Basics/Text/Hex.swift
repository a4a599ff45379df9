/// Hexadecimal text.
package enum Hex {
    package static func lower(_ bytes: some Sequence<UInt8>) -> String { text(Array(bytes), letters: 0x61) }

    package static func upper(_ bytes: some Sequence<UInt8>) -> String { text(Array(bytes), letters: 0x41) }

    /// Returns `nil` unless `text` is an even number of hexadecimal digits, in either case.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? { bytes(Array(text.utf8)) }

    // On arrays, because generic code from another module would call a function for each character.
    private static func bytes(_ characters: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 2)
        var high: UInt8?
        for character in characters {
            guard let digit = character.hexDigitValue else { return nil }
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
