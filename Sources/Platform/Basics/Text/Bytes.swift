extension StringProtocol {
    /// Returns the longest beginning that has at most this number of bytes of UTF-8, without a part of a character.
    package func prefix(bytes: Int) -> String {
        var count = 0
        let kept = prefix {
            count += $0.utf8.count
            return count <= bytes
        }
        return String(kept)
    }
}

/// The comparison of texts that other parties, or an index of the database, compare by code points.
///
/// Swift's `==` holds for canonically equivalent texts, such as "K" and the Kelvin sign (U+212A). An identity provider treats them
/// as different, and may give both to different people, workloads or groups; an index finds the one and not the other.
extension String {
    /// Whether both texts have the same code points (RFC 7519, section 7.3).
    package func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension FixedWidthInteger {
    /// The bytes in big-endian order.
    package var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    /// Reads bytes in big-endian order; of more bytes than the number has, the last ones.
    package init(bigEndianBytes bytes: some Collection<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}

extension [UInt8] {
    /// Appends the bytes of a number in big-endian order, without an array of their own.
    package mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}
