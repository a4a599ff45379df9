/// The name of one request in logs and answers: what its client calls it by `x-request-id`, or ours.
public enum RequestID {
    private static let longest = 128

    /// `nil` unless `field` is 1 to 128 letters, digits, and `-`, `_`, `.`, `:`, `/`, `+`, `=`: with these it can stand in
    /// any log.
    public static func accepted(_ field: some Collection<UInt8>) -> String? {
        guard !field.isEmpty, field.count <= longest, field.allSatisfy(isPlain) else { return nil }
        return String(decoding: field, as: UTF8.self)
    }

    /// 32 hexadecimal digits that nobody has had before.
    public static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        let (high, low) = (generator.next(), generator.next())
        return String(unsafeUninitializedCapacity: 32) { characters in
            for index in 0..<32 {
                let word = index < 16 ? high : low
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - index % 16 * 4)) & 0xF
                characters[index] = digit < 10 ? 0x30 + digit : 0x57 + digit
            }
            return 32
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-_.:/+=".utf8.contains(byte)
        }
    }
}
