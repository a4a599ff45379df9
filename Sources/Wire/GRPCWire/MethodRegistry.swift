public import Protobuf

/// A registry of the methods of services, which a router implements.
///
/// Generated code adds each method. `Context` is the type of the information about a call that a handler gets in addition to the
/// message.
public protocol MethodRegistry<Context> {
    associatedtype Context: Sendable

    mutating func add<Input: Message, Output: Message>(
        _ method: MethodDescriptor,
        unary handler: @escaping @Sendable (Input, Context) async throws -> Output)

    mutating func add<Input: Message, Output: Message>(
        _ method: MethodDescriptor,
        serverStreaming handler: @escaping @Sendable (Input, ResponseWriter<Output>, Context) async throws -> Void)

    mutating func add<Input: Message, Output: Message>(
        _ method: MethodDescriptor,
        clientStreaming handler: @escaping @Sendable (RequestStream<Input>, Context) async throws -> Output)

    mutating func add<Input: Message, Output: Message>(
        _ method: MethodDescriptor,
        bidirectional handler:
            @escaping @Sendable (RequestStream<Input>, ResponseWriter<Output>, Context) async throws -> Void)
}
