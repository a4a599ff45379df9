import TestSupport
import Testing
import Wire
import WireTesting

/// The generated code for a service with a method of every kind.
@Suite(.timeLimited) struct GeneratedServiceTests {
    private struct Service: EchoHandler {
        func unary(_ request: Scalars, context: Int) async throws -> Scalars { request }

        func clientStreaming(_ requests: RequestStream<Scalars>, context: Int) async throws -> Repeateds {
            var all = Repeateds()
            for try await request in requests { all.scalars.append(request) }
            return all
        }

        func serverStreaming(
            _ request: Repeateds, responses: ResponseWriter<Scalars>, context: Int
        ) async throws {
            for each in request.scalars { try await responses.write(each) }
        }

        func bidirectional(
            _ requests: RequestStream<Scalars>, responses: ResponseWriter<Scalars>, context: Int
        ) async throws {
            for try await request in requests { try await responses.write(request) }
        }
    }

    private struct Registry: MethodRegistry {
        typealias Context = Int
        var kinds: [MethodDescriptor: CallKind] = [:]

        mutating func add<Input: Message, Output: Message>(
            _ method: MethodDescriptor, unary handler: @escaping @Sendable (Input, Int) async throws -> Output
        ) {
            kinds[method] = .unary
        }

        mutating func add<Input: Message, Output: Message>(
            _ method: MethodDescriptor,
            serverStreaming handler: @escaping @Sendable (Input, ResponseWriter<Output>, Int) async throws -> Void
        ) {
            kinds[method] = .serverStreaming
        }

        mutating func add<Input: Message, Output: Message>(
            _ method: MethodDescriptor,
            clientStreaming handler: @escaping @Sendable (RequestStream<Input>, Int) async throws -> Output
        ) {
            kinds[method] = .clientStreaming
        }

        mutating func add<Input: Message, Output: Message>(
            _ method: MethodDescriptor,
            bidirectional handler:
                @escaping @Sendable (RequestStream<Input>, ResponseWriter<Output>, Int) async throws -> Void
        ) {
            kinds[method] = .bidirectionalStreaming
        }
    }

    /// Responds to a unary call with the bytes of its request, to a streaming call with an empty message.
    private struct Transport: CallTransport {
        func unary<Input: Message, Output: Message>(
            _ method: MethodDescriptor, _ request: Input, options: CallOptions
        ) async throws -> Output {
            #expect(method.path == "/gateway.test.Echo/Unary")
            return try Output(decoding: request.encoded())
        }

        func serverStreaming<Input: Message, Output: Message>(
            _ method: MethodDescriptor, _ request: Input, options: CallOptions,
            receive: @escaping @Sendable (Output) async throws -> Void
        ) async throws {
            #expect(method.path == "/gateway.test.Echo/ServerStreaming")
            try await receive(Output())
        }
    }

    @Test func everyMethodIsRegisteredAsItsKind() {
        var registry = Registry()
        Service().register(in: &registry)
        #expect(registry.kinds.count == 4)
        for (method, kind) in registry.kinds { #expect(method.kind == kind, "\(method.path)") }
        #expect(Set(registry.kinds.keys) == Set(EchoMethods.all))
        #expect(EchoMethods.all.map(\.name) == ["Unary", "ClientStreaming", "ServerStreaming", "Bidirectional"])
        #expect(EchoMethods.bidirectional.path == "/gateway.test.Echo/Bidirectional")
    }

    @Test func theClientCallsByDescriptor() async throws {
        let client = EchoClient(Transport())
        #expect(try await client.unary(Sample.scalars) == Sample.scalars)
        try await confirmation { confirm in
            try await client.serverStreaming(Repeateds()) { message in
                #expect(message == Scalars())
                confirm()
            }
        }
    }
}
