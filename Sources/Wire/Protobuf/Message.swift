/// A protobuf message. Generated code conforms; nobody else does.
public protocol Message: Sendable, Equatable {
    /// The full name in its `.proto` file, e.g. `archebase.auth.v1.LoginRequest`.
    static var fullName: String { get }

    init()
}
