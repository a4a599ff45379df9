import Basics

/// A compiled `.proto` file, embedded by the plugin for reflection and for the JSON mapping.
public struct FileDescriptor: Sendable {
    /// The path in imports, e.g. `google/protobuf/empty.proto`.
    public let name: String
    /// The serialized `google.protobuf.FileDescriptorProto`, without source information.
    public let serialized: [UInt8]

    /// - Parameter base64: the serialized descriptor, as written by the plugin.
    public init(name: String, base64: StaticString) {
        self.name = name
        let text = UnsafeBufferPointer(start: base64.utf8Start, count: base64.utf8CodeUnitCount)
        serialized = Base64.decodeAny(Array(text)) ?? []
    }
}
