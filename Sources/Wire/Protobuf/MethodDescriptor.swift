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
