/// Bytes that must not be shown: printing, interpolating or dumping one gives `***`.
package struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package init(_ text: String) {
        self.bytes = Array(text.utf8)
    }

    /// The bytes themselves: the name says aloud, where it is read, that a secret leaves its wrapping.
    package var exposed: [UInt8] { bytes }

    /// The bytes as text.
    package var exposedText: String { String(decoding: bytes, as: UTF8.self) }

    package var description: String { "***" }

    package var debugDescription: String { "***" }

    package var customMirror: Mirror { Mirror(self, children: []) }

    package func matches(_ other: Secret) -> Bool { constantTimeEqual(bytes, other.bytes) }
}
