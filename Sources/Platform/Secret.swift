/// Bytes that must not be shown: printing, interpolating or dumping one gives `***`.
public struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let bytes: [UInt8]

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    public init(_ text: String) {
        self.bytes = Array(text.utf8)
    }

    /// The bytes themselves: the name says aloud, where it is read, that a secret leaves its wrapping.
    public var exposed: [UInt8] { bytes }

    /// The bytes as text.
    public var exposedText: String { String(decoding: bytes, as: UTF8.self) }

    public var description: String { "***" }

    public var debugDescription: String { "***" }

    public var customMirror: Mirror { Mirror(self, children: []) }

    public func matches(_ other: Secret) -> Bool { constantTimeEqual(bytes, other.bytes) }
}
