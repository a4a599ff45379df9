package import Basics
import Synchronization

/// The identifier of a request in logs and responses: the client's `x-request-id`, or one that the gateway generates.
package struct RequestID: Sendable, Hashable, CustomStringConvertible {
    private enum Form: Sendable, Hashable {
        case given(String)
        /// Converted to 32 hexadecimal digits only if it is read.
        case made(UInt64, UInt64)
    }

    /// The header field of requests and responses.
    package static let field: StaticString = "x-request-id"

    private static let longest = 128

    private let form: Form

    /// Returns `nil` unless `field` is 1 to 128 letters, digits, and `-`, `_`, `.`, `:`, `/`, `+`, `=`, which are safe in any log.
    package static func accepted(_ field: some Collection<UInt8>) -> RequestID? {
        guard !field.isEmpty, field.count <= longest, field.allSatisfy(isPlain) else { return nil }
        return RequestID(form: .given(String(decoding: field, as: UTF8.self)))
    }

    /// The first half of this process's identifiers, and the counter behind the second half, with a random start.
    private static let process = UInt64.random(in: 0 ... .max)
    private static let count = Atomic(UInt64.random(in: 0 ... .max))

    /// Generates a unique identifier of 32 hexadecimal digits: 16 are random for each process, and 16 are its counter, mixed so
    /// that they do not look like one. Identifiers are not secret: random numbers for each would cost two system calls.
    package static func make() -> RequestID {
        RequestID(form: .made(process, mixed(count.wrappingAdd(1, ordering: .relaxed).oldValue)))
    }

    /// Calls `body` with the id's ASCII characters, which are valid during the call only.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch form {
        case .given(var text):
            return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
        case .made(let high, let low):
            let (first, second) = (Self.digits(high), Self.digits(low))
            return withUnsafeBytes(of: (first.0, first.1, second.0, second.1), body)
        }
    }

    package var description: String { withBytes { String(decoding: $0, as: UTF8.self) } }

    /// Appends the identifier to a log line.
    package func write(to line: inout LogLine) { withBytes { line.append($0) } }

    /// Returns the 16 hexadecimal digits of a number in the order of memory.
    private static func digits(_ number: UInt64) -> (UInt64, UInt64) {
        (digits(UInt32(truncatingIfNeeded: number >> 32)), digits(UInt32(truncatingIfNeeded: number)))
    }

    /// Converts all eight digits at once: each half byte becomes a byte, and values from 10 on get the distance from `:` to `a`
    /// added.
    private static func digits(_ number: UInt32) -> UInt64 {
        var halves = UInt64(number.byteSwapped)
        halves = (halves | halves << 16) & 0x0000_FFFF_0000_FFFF
        halves = (halves | halves << 8) & 0x00FF_00FF_00FF_00FF
        halves = (halves >> 4 | halves << 8) & 0x0F0F_0F0F_0F0F_0F0F
        let isLetter = (halves &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (halves &+ 0x3030_3030_3030_3030 &+ isLetter &* 0x27).littleEndian
    }

    /// The final steps of SplitMix64 (Steele, Lea and Flood, 2014). Each is invertible, so different numbers stay different.
    private static func mixed(_ number: UInt64) -> UInt64 {
        var number = number &* 0x9E37_79B9_7F4A_7C15
        number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
        return number ^ number >> 31
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "-_.:/+=".utf8.contains(byte)
    }
}
