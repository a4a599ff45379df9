import RPC
import Wire

/// The server of gRPC's "Interoperability Test Case Descriptions", section "Server".
struct TestService: TestServiceHandler {
    private static let echoedInitially = "x-grpc-test-echo-initial"
    private static let echoedTrailing = "x-grpc-test-echo-trailing-bin"
    private static let maxPayloadSize: Int32 = 16 << 20

    func emptyCall(_ request: Empty, context: CallContext) async throws -> Empty {
        echoMetadata(context)
        return request
    }

    func unaryCall(_ request: SimpleRequest, context: CallContext) async throws -> SimpleResponse {
        echoMetadata(context)
        try check(request.expectCompressed, context)
        try echo(request.responseStatus)
        context.compressesResponses = request.responseCompressed?.value ?? false
        return SimpleResponse(payload: try payload(request.responseSize))
    }

    func streamingOutputCall(
        _ request: StreamingOutputCallRequest, responses: ResponseWriter<StreamingOutputCallResponse>,
        context: CallContext
    ) async throws {
        echoMetadata(context)
        context.mayCompressLater = request.responseParameters.contains { $0.compressed?.value ?? false }
        try await response(request, responses, context)
    }

    func streamingInputCall(
        _ requests: RequestStream<StreamingInputCallRequest>, context: CallContext
    ) async throws -> StreamingInputCallResponse {
        echoMetadata(context)
        var total: Int32 = 0
        for try await request in requests {
            try check(request.expectCompressed, context)
            total &+= Int32(clamping: request.payload?.body.count ?? 0)
        }
        return StreamingInputCallResponse(aggregatedPayloadSize: total)
    }

    func fullDuplexCall(
        _ requests: RequestStream<StreamingOutputCallRequest>,
        responses: ResponseWriter<StreamingOutputCallResponse>, context: CallContext
    ) async throws {
        echoMetadata(context)
        context.mayCompressLater = true
        for try await request in requests { try await response(request, responses, context) }
    }

    func halfDuplexCall(
        _ requests: RequestStream<StreamingOutputCallRequest>,
        responses: ResponseWriter<StreamingOutputCallResponse>, context: CallContext
    ) async throws {
        echoMetadata(context)
        context.mayCompressLater = true
        var all: [StreamingOutputCallRequest] = []
        for try await request in requests { all.append(request) }
        for request in all { try await response(request, responses, context) }
    }

    func unimplementedCall(_ request: Empty, context: CallContext) async throws -> Empty {
        throw RPCError.unimplemented("\(context.method.path) is not implemented")
    }

    private func response(
        _ request: StreamingOutputCallRequest, _ responses: ResponseWriter<StreamingOutputCallResponse>,
        _ context: CallContext
    ) async throws {
        try echo(request.responseStatus)
        for parameters in request.responseParameters {
            if parameters.intervalUs > 0 { try await Task.sleep(for: .microseconds(parameters.intervalUs)) }
            context.compressesResponses = parameters.compressed?.value ?? false
            try await responses.write(StreamingOutputCallResponse(payload: try payload(parameters.size)))
        }
    }

    /// Section "Echo Metadata" of the description.
    private func echoMetadata(_ context: CallContext) {
        for value in context.metadata.values(Self.echoedInitially) {
            context.responseMetadata.append(name: Self.echoedInitially, value: value)
        }
        for bytes in context.metadata.binaryValues(Self.echoedTrailing) ?? [] {
            context.trailingMetadata.append(name: Self.echoedTrailing, binary: bytes)
        }
    }

    /// Section "Echo Status" of the description.
    private func echo(_ status: EchoStatus?) throws {
        guard let status, status.code != 0 else { return }
        throw RPCError(bare: StatusCode(rawValue: Int(status.code)) ?? .unknown, status.message)
    }

    /// Section "Observe ResponseParameters", for the request's own compression.
    private func check(_ expected: BoolValue?, _ context: CallContext) throws {
        guard let expected, expected.value != context.requestWasCompressed else { return }
        throw RPCError(
            bare: .invalidArgument, "the message came \(expected.value ? "uncompressed" : "compressed")")
    }

    private func payload(_ size: Int32) throws -> Payload {
        guard (0...Self.maxPayloadSize).contains(size) else {
            throw RPCError(bare: .invalidArgument, "a payload has 0 to \(Self.maxPayloadSize) bytes")
        }
        return Payload(body: [UInt8](repeating: 0, count: Int(size)))
    }
}
