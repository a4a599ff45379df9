import Synchronization

/// The name of one request in logs and answers: what its client calls it by `x-request-id`, or ours.
package enum RequestID {
    private static let longest = 128

    /// `nil` unless `field` is 1 to 128 letters, digits, and `-`, `_`, `.`, `:`, `/`, `+`, `=`: with these it can stand in
    /// any log.
    package static func accepted(_ field: some Collection<UInt8>) -> String? {
        guard !field.isEmpty, field.count <= longest, field.allSatisfy(isPlain) else { return nil }
        return String(decoding: field, as: UTF8.self)
    }

    /// What begins the ids of this process, and where it began to count.
    private static let process = UInt64.random(in: 0 ... .max)
    private static let count = Atomic(UInt64.random(in: 0 ... .max))

    /// 32 hexadecimal digits that nobody has had before: 16 that the process drew, and 16 of its own count, which are
    /// mixed so that nobody takes them for one. They are names and no secrets: a draw for each would cost two system
    /// calls.
    package static func make() -> String {
        let (high, low) = (process, mixed(count.wrappingAdd(1, ordering: .relaxed).oldValue))
        return String(unsafeUninitializedCapacity: 32) { characters in
            for index in 0..<32 {
                let word = index < 16 ? high : low
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - index % 16 * 4)) & 0xF
                characters[index] = digit < 10 ? 0x30 + digit : 0x57 + digit
            }
            return 32
        }
    }

    /// SplitMix64's last steps (Steele, Lea and Flood, 2014), each of which can be undone: no two numbers become the same.
    private static func mixed(_ number: UInt64) -> UInt64 {
        var number = number &* 0x9E37_79B9_7F4A_7C15
        number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
        return number ^ number >> 31
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-_.:/+=".utf8.contains(byte)
        }
    }
}
