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
