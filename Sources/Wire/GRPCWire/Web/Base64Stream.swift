import Basics
import Protobuf

/// Decoder of gRPC-Web-Text bodies: Base64 in any number of pieces, each of which may have its own padding (gRPC-Web, "Text-encoded
/// (response) streams").
public struct Base64Stream: Sendable {
    /// The bytes are not Base64.
    public struct Malformed: Error, Sendable {}

    /// The characters of an incomplete group; fewer than four.
    private var begun: [UInt8] = []

    public init() {}

    /// Whether the text so far ends within a group, which is an error at the end of the body.
    public var isWithinGroup: Bool { !begun.isEmpty }

    public mutating func decode(_ text: UnsafeRawBufferPointer) throws(Malformed) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 3)
        for character in text {
            begun.append(character)
            guard begun.count == 4 else { continue }
            guard let group = Base64.decodeAny(begun) else { throw Malformed() }
            bytes += group
            begun.removeAll(keepingCapacity: true)
        }
        return bytes
    }

    /// Encodes one piece, with padding.
    public static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        Base64.append(bytes, to: &text)
        return text
    }
}
