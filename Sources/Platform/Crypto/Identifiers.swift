package import Basics
import COpenSSL
import Synchronization

/// Generates identifiers that sort by their time of creation: UUID version 7 (RFC 9562, section 5.7).
///
/// Strictly increasing within one `Identifiers`, even with many in the same millisecond: the 12 bits of `rand_a` are a counter
/// (method 1 of section 6.2) that carries into the milliseconds when it overflows.
package final class Identifiers: Sendable {
    private let clock: any WallClock
    /// The last 48 bits of milliseconds and 12 bits of counter in use, as one number.
    private let last = Lock<UInt64>(0)

    package init(clock: any WallClock) {
        self.clock = clock
    }

    /// Returns a new UUID: 36 characters, lowercase hexadecimal digits and hyphens.
    package func uuid() -> String {
        let milliseconds = UInt64(max(0, clock.now().microseconds / 1000)) & 0xFFFF_FFFF_FFFF
        let stamp = last.withLock { last in
            last = max(last + 1, milliseconds << 12)
            return last
        }
        var bytes = Random.bytes(16)
        for index in 0..<6 {
            bytes[index] = UInt8(truncatingIfNeeded: stamp >> UInt64(12 + 8 * (5 - index)))
        }
        bytes[6] = 0x70 | UInt8(truncatingIfNeeded: (stamp >> 8) & 0x0F)
        bytes[7] = UInt8(truncatingIfNeeded: stamp)
        bytes[8] = 0x80 | (bytes[8] & 0x3F)
        let hex = Hex.lower(bytes)
        var text = ""
        text.reserveCapacity(36)
        for (index, character) in hex.enumerated() {
            if index == 8 || index == 12 || index == 16 || index == 20 { text.append("-") }
            text.append(character)
        }
        return text
    }
}

/// Unpredictable bytes from OpenSSL's generator.
package enum Random {
    /// - Parameter count: the number of bytes, at least 0.
    package static func bytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            // Without randomness no secret is safe, and no caller could recover from that.
            precondition(RAND_bytes(buffer.baseAddress, Int32(count)) == 1, "the system has no randomness")
            filled = count
        }
    }

    /// Returns random bytes in lowercase hexadecimal digits.
    ///
    /// - Parameter count: the number of bytes, at least 0; each has two digits.
    package static func hex(_ count: Int) -> String { Hex.lower(bytes(count)) }
}
