public import Wire

/// Random but well-formed encodings of any message, by its schema; the same seed gives the same bytes.
public struct RandomFields {
    private var state: UInt64
    private let schema: Schema

    public init(seed: UInt64, schema: Schema) {
        state = seed
        self.schema = schema
    }

    /// SplitMix64: S. Vigna, "Further scramblings of Marsaglia's xorshift generators".
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    public mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    public mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }

    public mutating func message(_ name: String, depth: Int = 0) -> [UInt8] {
        guard let message = schema.messages[name], depth < 4 else { return [] }
        var output: [UInt8] = []
        for field in message.fields {
            for _ in 0..<below(field.isRepeated ? 4 : 2) { output += value(of: field, depth: depth) }
        }
        // A field that no message has.
        if below(4) == 0 { output += varint(1_000_000 << 3) + varint(next()) }
        return output
    }

    private mutating func value(of field: FieldSchema, depth: Int) -> [UInt8] {
        func tagged(_ wireType: UInt64, _ payload: [UInt8]) -> [UInt8] {
            varint(UInt64(field.number) << 3 | wireType) + payload
        }
        switch field.kind {
        case .double, .fixed64, .sfixed64: return tagged(1, bytes(8))
        case .float, .fixed32, .sfixed32: return tagged(5, bytes(4))
        case .string:
            let text = String((0..<below(30)).map { _ in "aZ0-é世🤖".randomElement(from: next()) })
            return tagged(2, varint(UInt64(text.utf8.count)) + text.utf8)
        case .bytes:
            let count = below(40)
            return tagged(2, varint(UInt64(count)) + bytes(count))
        case .message:
            let inner = message(field.typeName, depth: depth + 1)
            return tagged(2, varint(UInt64(inner.count)) + inner)
        default: return tagged(0, varint(next() >> UInt64(below(64))))
        }
    }

    private func varint(_ value: UInt64) -> [UInt8] {
        value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + varint(value >> 7)
    }
}

extension String {
    fileprivate func randomElement(from bits: UInt64) -> Character {
        self[index(startIndex, offsetBy: Int(bits % UInt64(count)))]
    }
}
