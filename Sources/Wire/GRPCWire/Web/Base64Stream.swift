import Basics
import Protobuf

/// The body of gRPC-Web-Text: base64 in any number of pieces, each of which may have padding of its own (gRPC-Web,
/// "Text-encoded (response) streams").
public struct Base64Stream: Sendable {
    /// The bytes are no base64.
    public struct Malformed: Error, Sendable {}

    /// Fewer than four characters, whose group the next bytes complete.
    private var begun: [UInt8] = []

    public init() {}

    /// Whether the text so far ends within a group: at the end of the body, that is an error.
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

    /// One piece, padded.
    public static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        Base64.append(bytes, to: &text)
        return text
    }
}
