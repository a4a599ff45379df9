package import CommonProto
package import GRPCWire
package import Protobuf

/// The gRPC service `grpc.reflection.v1.ServerReflection`: describes a listener's services to tools without generated code.
package struct ReflectionService: ServerReflectionHandler {
    package typealias Context = CallContext

    private let services: [String]
    private let index: DescriptorIndex

    /// - Parameters:
    ///   - services: the full names of the listener's services.
    ///   - files: the descriptors of all files that they use.
    package init(services: [String], files: [FileDescriptor]) {
        self.services = services.sorted()
        index = DescriptorIndex(files)
    }

    package func serverReflectionInfo(
        _ requests: RequestStream<ServerReflectionRequest>, responses: ResponseWriter<ServerReflectionResponse>,
        context: CallContext
    ) async throws {
        for try await request in requests { try await responses.write(response(to: request)) }
    }

    func response(to request: ServerReflectionRequest) -> ServerReflectionResponse {
        var response = ServerReflectionResponse(validHost: request.host, originalRequest: request)
        response.messageResponse = messageResponse(request)
        return response
    }

    private func messageResponse(_ request: ServerReflectionRequest) -> ServerReflectionResponse.MessageResponse {
        switch request.messageRequest {
        case .listServices:
            return .listServicesResponse(ListServiceResponse(service: services.map { ServiceResponse(name: $0) }))
        case .fileByFilename(let name):
            return found(index.files(named: name), "file", name)
        case .fileContainingSymbol(let symbol):
            return found(index.files(declaring: symbol), "symbol", symbol)
        case .fileContainingExtension(let wanted):
            return found(nil, "extension", "\(wanted.extensionNumber) of \(wanted.containingType)")
        case .allExtensionNumbersOfType(let type):
            // proto3 has no extensions: a known type has none.
            return index.isDeclared(type)
                ? .allExtensionNumbersResponse(ExtensionNumberResponse(baseTypeName: type)) : found(nil, "type", type)
        case nil:
            return failure(.invalidArgument, "the request must name something to look up")
        }
    }

    private func found(
        _ files: [[UInt8]]?, _ kind: String, _ name: String
    ) -> ServerReflectionResponse.MessageResponse {
        files.map { .fileDescriptorResponse(FileDescriptorResponse(fileDescriptorProto: $0)) }
            ?? failure(.notFound, "\(kind) \(name.prefix(200)) does not exist")
    }

    private func failure(_ code: StatusCode, _ message: String) -> ServerReflectionResponse.MessageResponse {
        .errorResponse(ErrorResponse(errorCode: Int32(code.rawValue), errorMessage: message))
    }
}

/// The gRPC service `grpc.reflection.v1alpha.ServerReflection`: the same under its older name, which most tools try first.
package struct ReflectionServiceV1Alpha: V1AlphaServerReflectionHandler {
    package typealias Context = CallContext

    private let current: ReflectionService

    package init(_ current: ReflectionService) {
        self.current = current
    }

    /// The messages of both versions have the same encoding.
    package func serverReflectionInfo(
        _ requests: RequestStream<V1AlphaServerReflectionRequest>,
        responses: ResponseWriter<V1AlphaServerReflectionResponse>, context: CallContext
    ) async throws {
        for try await request in requests {
            let response = current.response(to: try ServerReflectionRequest(decoding: request.encoded()))
            try await responses.write(try V1AlphaServerReflectionResponse(decoding: response.encoded()))
        }
    }
}
