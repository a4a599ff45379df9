import Protobuf

/// Where a service's methods are entered, so that calls find them.
///
/// Generated code calls it once per method; a router implements it. `Context` is what the router tells a handler
/// about its call beside the message.
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
