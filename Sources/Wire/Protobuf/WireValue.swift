/// One encoded value of a field, without its tag.
package enum WireValue {
    case varint(UInt64)
    case fixed64(UInt64)
    case fixed32(UInt32)
    case delimited([UInt8])

    /// Whether a field without presence omits the value.
    package var isInitial: Bool {
        switch self {
        case .varint(let bits): bits == 0
        case .fixed64(let bits): bits == 0
        case .fixed32(let bits): bits == 0
        case .delimited(let bytes): bytes.isEmpty
        }
    }
}

extension [UInt8] {
    package mutating func append(payload value: WireValue) {
        switch value {
        case .varint(let bits): append(varint: bits)
        case .fixed64(let bits): Swift.withUnsafeBytes(of: bits.littleEndian) { append(contentsOf: $0) }
        case .fixed32(let bits): Swift.withUnsafeBytes(of: bits.littleEndian) { append(contentsOf: $0) }
        case .delimited(let bytes):
            append(varint: UInt64(bytes.count))
            self += bytes
        }
    }

    package mutating func append(field tag: UInt32, _ value: WireValue) {
        append(varint: UInt64(tag))
        append(payload: value)
    }
}
