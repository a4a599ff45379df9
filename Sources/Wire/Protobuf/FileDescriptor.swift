/// A compiled `.proto` file, embedded by the plugin for reflection and for the JSON mapping.
public struct FileDescriptor: Sendable {
    /// The path as other files import it, e.g. `google/protobuf/empty.proto`.
    public let name: String
    /// The serialized `google.protobuf.FileDescriptorProto`, without source information.
    public let serialized: [UInt8]

    /// - Parameter base64: the serialized descriptor, as the plugin writes it.
    public init(name: String, base64: StaticString) {
        self.name = name
        serialized = Self.decode(base64)
    }

    private static func decode(_ base64: StaticString) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(base64.utf8CodeUnitCount / 4 * 3)
        var bits: UInt32 = 0
        var count = 0
        for character in UnsafeBufferPointer(start: base64.utf8Start, count: base64.utf8CodeUnitCount) {
            let sextet: UInt8
            switch character {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): sextet = character - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): sextet = character - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): sextet = character - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"): sextet = 62
            case UInt8(ascii: "/"): sextet = 63
            default: continue  // padding
            }
            bits = bits << 6 | UInt32(sextet)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }
}
