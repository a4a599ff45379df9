public import Protobuf

/// The options of one call.
public struct CallOptions: Sendable {
    /// Sent as `grpc-timeout`, and enforced by the caller as well. `nil` = none.
    public var timeout: Duration?
    /// Custom metadata, names in lower case; a name ending in `-bin` carries base64.
    public var metadata: [(name: String, value: String)]

    public init(timeout: Duration? = nil, metadata: [(name: String, value: String)] = []) {
        self.timeout = timeout
        self.metadata = metadata
    }
}

/// The client side of the wire: carries calls to a server. Generated clients are generic over it.
public protocol CallTransport: Sendable {
    /// - Throws: `GRPCStatus` when the server answers with a status other than OK.
    func unary<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions
    ) async throws -> Output

    /// Calls `receive` for every message, in order, until the server ends the call.
    func serverStreaming<Input: Message, Output: Message>(
        _ method: MethodDescriptor, _ request: Input, options: CallOptions,
        receive: @escaping @Sendable (Output) async throws -> Void
    ) async throws
}
