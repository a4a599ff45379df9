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

/// Finds the `.proto` file that declares a name, for reflection. Built once.
struct DescriptorIndex: Sendable {
    private var files: [String: FileDescriptor] = [:]
    private var imports: [String: [String]] = [:]
    /// The file's name by the full name of a declaration.
    private var declared: [String: String] = [:]

    init(_ descriptors: [FileDescriptor]) {
        for descriptor in descriptors {
            // Embedded by our plugin; a file that cannot be decoded would only be missing here.
            guard let file = try? FileDescriptorProto(decoding: descriptor.serialized) else { continue }
            files[descriptor.name] = descriptor
            imports[descriptor.name] = file.dependency
            let scope = file.package ?? ""
            for message in file.messageType { add(message, in: scope, of: descriptor.name) }
            for type in file.enumType { declare(type.name, in: scope, of: descriptor.name) }
            for service in file.service {
                let name = declare(service.name, in: scope, of: descriptor.name)
                for method in service.method { declare(method.name, in: name, of: descriptor.name) }
            }
        }
    }

    private mutating func add(_ message: DescriptorProto, in scope: String, of file: String) {
        let name = declare(message.name, in: scope, of: file)
        for field in message.field { declare(field.name, in: name, of: file) }
        for type in message.enumType { declare(type.name, in: name, of: file) }
        for nested in message.nestedType { add(nested, in: name, of: file) }
    }

    @discardableResult
    private mutating func declare(_ name: String?, in scope: String, of file: String) -> String {
        let full = [scope, name ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
        declared[full] = file
        return full
    }

    func isDeclared(_ symbol: String) -> Bool { declared[symbol] != nil }

    /// Returns the file that declares `symbol`, and all files that it imports.
    func files(declaring symbol: String) -> [[UInt8]]? {
        declared[symbol].flatMap { files(named: $0) }
    }

    /// Returns the serialized file and all files that it imports, each once, the file itself first.
    func files(named name: String) -> [[UInt8]]? {
        guard files[name] != nil else { return nil }
        var names = [name]
        var next = 0
        while next < names.count {
            for name in imports[names[next]] ?? [] where !names.contains(name) { names.append(name) }
            next += 1
        }
        return names.compactMap { files[$0]?.serialized }
    }
}
