import Basics

/// The kind of a call by the number of messages in each direction.
public enum CallKind: Sendable, Hashable {
    case unary
    case clientStreaming
    case serverStreaming
    case bidirectionalStreaming
}

/// One method of a service in a `.proto` file.
public struct MethodDescriptor: Sendable, Hashable {
    /// The service's full name, e.g. `archebase.auth.v1.AuthService`.
    public let service: String
    /// The method's name, e.g. `Login`.
    public let name: String
    public let kind: CallKind
    /// The HTTP/2 `:path`, e.g. `/archebase.auth.v1.AuthService/Login`.
    public let path: String
    /// Whether the `.proto` file declares `idempotency_level = NO_SIDE_EFFECTS`, which allows calls with GET.
    public let isSideEffectFree: Bool

    public init(service: String, name: String, kind: CallKind, isSideEffectFree: Bool = false) {
        self.service = service
        self.name = name
        self.kind = kind
        self.path = "/\(service)/\(name)"
        self.isSideEffectFree = isSideEffectFree
    }
}

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
