import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2
import GRPCProtobuf

// `benchmark.Echo` on a free port of the loopback; says where in the way of the gateway's ready line.
struct EchoService: RegistrableRPCService {
    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        router.registerHandler(
            forMethod: MethodDescriptor(
                service: ServiceDescriptor(fullyQualifiedService: "benchmark.Echo"), method: "Say"),
            deserializer: ProtobufDeserializer<EchoMessage>(), serializer: ProtobufSerializer<EchoMessage>()
        ) { request, _ in
            let request = try await ServerRequest(stream: request)
            return StreamingServerResponse(single: ServerResponse(message: request.message))
        }
    }
}

let server = GRPCServer(
    transport: .http2NIOPosix(address: .ipv4(host: "127.0.0.1", port: 0), transportSecurity: .plaintext),
    services: [EchoService()])
try await withThrowingDiscardingTaskGroup { group in
    group.addTask { try await server.serve() }
    guard let address = try await server.listeningAddress?.ipv4 else { return }
    let ready = "{\"event\":\"ready\",\"listeners\":{\"echo\":\"127.0.0.1:\(address.port)\"}}\n"
    FileHandle.standardOutput.write(Data(ready.utf8))
}
