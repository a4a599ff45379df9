import Basics
import GatewayFormats
import HTTPTypes
import Proto
import RPC
import Synchronization
import TestSupport
import Testing
import Wire

/// gRPC over HTTP/2, "Requests" and "Responses", without a socket.
@Suite(.timeLimited) struct ServerCallTests {
    private static let method = MethodDescriptor(service: "test.Service", name: "Echo", kind: .unary)

    private func echo() -> Router {
        var router = Router()
        router.add(Self.method) { (request: HealthCheckRequest, _) in request }
        return router
    }

    private let message: [UInt8] = [0, 0, 0, 0, 4, 0x0A, 2, 0x68, 0x69]

    @Test func anEchoComesWithItsTrailers() throws {
        let reply = try RawClient(echo()).call(body: message)
        #expect(reply[":status"] == "200")
        #expect(reply["content-type"] == "application/grpc")
        #expect(reply["grpc-status"] == "0")
        #expect(reply.body == message)
        #expect(reply.closeCode == 0)
    }

    @Test(arguments: [
        (":method", "GET", "405"), ("content-type", "text/plain", "415"),
        ("content-type", "application/grpcx", "415"),
    ])
    func requestThatIsNoGRPCGetsAnHTTPStatus(name: String, value: String, status: String) throws {
        let reply = try RawClient(echo()).call(changing: [name: value], body: message)
        #expect(reply[":status"] == status)
        #expect(reply["grpc-status"] == nil)
    }

    @Test(arguments: ["application/grpc+proto", "application/grpc;charset=utf-8", "application/grpc+proto;x=y"])
    func theContentTypesOfProto(value: String) throws {
        #expect(try RawClient(echo()).call(changing: ["content-type": value], body: message)["grpc-status"] == "0")
    }

    /// A few compressed bytes may expand to many: incomplete calls must not hold all of them.
    @Test(arguments: MessageEncoding.allCases)
    func bytesHeldByCallsAreBounded(encoding: MessageEncoding) throws {
        var limits = RPCLimits()
        limits.maxRequestBytes = 250_000
        let client = RawClient(echo(), limits: limits)
        let plain = HealthCheckRequest(service: String(repeating: "a", count: 100_000)).encoded()
        var frame = [0, 0, 0, 0, 0] + plain.withUnsafeBytes { encoding.compress($0) }
        MessagePrefix.write(to: &frame, compressed: true)
        let names = [("grpc-encoding", encoding.rawValue)]
        let replies = try (0..<3).map { _ in try client.call(adding: names, body: frame, isWhole: false) }
        #expect(replies.map { $0["grpc-status"] } == [nil, nil, "14"])
        // The bytes of a refused call are not held any more.
        #expect(try client.call(body: message)["grpc-status"] == "0")
        let unfinished = [0, 0, 1, 0x86, 0xA0] + [UInt8](repeating: 0, count: 60_000)
        #expect(try client.call(body: unfinished, isWhole: false)["grpc-status"] == "14")
    }

    /// nghttp2 would not send such a header section, and the client would wait forever.
    @Test func aRefusalMayRepeatALongText() throws {
        var router = Router()
        router.add(Self.method) { (_: HealthCheckRequest, _) -> HealthCheckRequest in
            throw RPCError.invalidArgument(String(repeating: "\u{E9}", count: 100_000))
        }
        let reply = try RawClient(router).call(body: message)
        #expect(reply["grpc-status"] == "3")
        #expect(reply.closeCode == 0)
    }

    @Test func nullCharacterInATextIsRefused() throws {
        let reply = try RawClient(echo()).call(body: [0, 0, 0, 0, 4, 0x0A, 2, 0x68, 0])
        #expect(reply["grpc-status"] == "3")
        // This server has no JSON, and so does not know the names of fields.
        #expect(reply["grpc-message"] == "a string field must not contain the character U+0000")
    }

    @Test func anUnknownPathIsUnimplemented() throws {
        let reply = try RawClient(echo()).call(changing: [":path": "/test.Service/Nothing"], body: message)
        #expect(reply["grpc-status"] == "12")
        #expect(reply["grpc-message"] == "this listener has no method /test.Service/Nothing")
    }

    @Test func withoutTETrailersIsRefused() throws {
        #expect(try RawClient(echo()).call(changing: ["te": nil], body: message)["grpc-status"] == "13")
    }

    @Test(arguments: ["0n", "0u", "0m", "0S", "0M", "0H", "00000000n"])
    func deadlineThatHasPassedEndsTheCall(timeout: String) throws {
        let reply = try RawClient(echo()).call(adding: [("grpc-timeout", timeout)], body: message)
        #expect(reply["grpc-status"] == "4")
    }

    @Test(arguments: [
        "application/GRPC", "Application/grpc+Proto", "application/grpc ;x=y", "application/grpc\t; x=y",
        "application/grpc+proto ; charset=utf-8", "application/grpc;",
    ])
    func mediaTypeHasNoCaseAndMayHaveBlanks(type: String) throws {
        let reply = try RawClient(echo()).call(changing: ["content-type": type], body: message)
        #expect(reply["grpc-status"] == "0")
    }

    @Test(arguments: ["application/grpcx", "application/grpc+json", "application/grpc x", "xapplication/grpc", "grpc"])
    func otherMediaTypesAreRefused(type: String) throws {
        #expect(try RawClient(echo()).call(changing: ["content-type": type], body: message)[":status"] == "415")
    }

    @Test func aBrokenTimeoutIsRefused() throws {
        let reply = try RawClient(echo()).call(adding: [("grpc-timeout", "soon")], body: message)
        #expect(reply["grpc-status"] == "3")
    }

    @Test func anUnknownEncodingIsRefusedWithWhatIsAccepted() throws {
        let reply = try RawClient(echo()).call(adding: [("grpc-encoding", "snappy")], body: message)
        #expect(reply["grpc-status"] == "12")
        #expect(reply["grpc-accept-encoding"] == "identity,gzip,deflate")
    }

    @Test(arguments: MessageEncoding.allCases)
    func messagesAreCompressedBothWays(encoding: MessageEncoding) throws {
        var router = Router()
        router.add(Self.method) { (request: HealthCheckRequest, context) in
            context.compressesResponses = true
            return request
        }
        let plain = HealthCheckRequest(service: String(repeating: "a", count: 500)).encoded()
        var frame = [0, 0, 0, 0, 0] + plain.withUnsafeBytes { encoding.compress($0) }
        MessagePrefix.write(to: &frame, compressed: true)
        let names = [("grpc-encoding", encoding.rawValue), ("grpc-accept-encoding", "x, \(encoding.rawValue)")]
        let reply = try RawClient(router).call(adding: names, body: frame)
        #expect(reply["grpc-status"] == "0")
        #expect(reply["grpc-encoding"] == encoding.rawValue)
        #expect(reply.body.first == 1)
        #expect(reply.body.count < 100)
        let message = try Array(reply.body.dropFirst(5)).withUnsafeBytes { try encoding.decompress($0, limit: 1000) }
        #expect(message == plain)
    }

    /// A response that begins uncompressed and continues compressed, to a request that does the same.
    @Test func compressionChangesFromMessageToMessage() throws {
        var router = Router()
        let method = MethodDescriptor(service: "test.Service", name: "Echo", kind: .bidirectionalStreaming)
        router.add(method) { (requests: RequestStream<HealthCheckRequest>, responses, context) in
            context.mayCompressLater = true
            for try await request in requests {
                context.compressesResponses = context.requestWasCompressed
                try await responses.write(request)
            }
        }
        let plain = HealthCheckRequest(service: "hi").encoded()
        var frame = [0, 0, 0, 0, 0] + plain.withUnsafeBytes { MessageEncoding.gzip.compress($0) }
        MessagePrefix.write(to: &frame, compressed: true)
        let names = [("grpc-encoding", "gzip"), ("grpc-accept-encoding", "gzip")]
        let reply = try RawClient(router).call(adding: names, body: message + frame + message + frame)
        #expect(reply["grpc-encoding"] == "gzip")
        #expect(reply.body == message + frame + message + frame)
    }

    @Test func aHandlersMetadataTravelsAroundItsMessages() throws {
        var router = Router()
        router.add(Self.method) { (request: HealthCheckRequest, context) in
            context.responseMetadata = context.metadata
            guard let values = context.metadata.binaryValues("x-bytes-bin") else {
                throw RPCError.invalidArgument("x-bytes-bin is no base64")
            }
            for bytes in values {
                context.trailingMetadata.append(name: "x-trailing-bin", binary: bytes + [0])
            }
            return request
        }
        // The second value consists of two that were joined.
        let more = [("x-text", "some text"), ("x-bytes-bin", "AQI="), ("x-bytes-bin", "Aw, BA==")]
        let reply = try RawClient(router).call(adding: more, body: message)
        let fields = reply.fields.map { "\($0.name): \($0.value)" }
        #expect(
            fields == [
                ":status: 200", "content-type: application/grpc", "x-text: some text", "x-bytes-bin: AQI=",
                "x-bytes-bin: Aw, BA==", "grpc-status: 0", "x-trailing-bin: AQIA", "x-trailing-bin: AwA",
                "x-trailing-bin: BAA",
            ])
        #expect(try RawClient(router).call(adding: [("x-bytes-bin", "?")], body: message)["grpc-status"] == "3")
    }

    @Test(arguments: [true, false])
    func aFailedCallsMetadataComesAsWhatItIs(withHeaders: Bool) throws {
        var router = Router()
        router.add(Self.method) { (_: HealthCheckRequest, context) -> HealthCheckRequest in
            if withHeaders { context.responseMetadata.append(name: "x-first", value: "1") }
            context.trailingMetadata.append(name: "x-last", value: "2")
            throw RPCError(bare: .aborted, "no")
        }
        let reply = try RawClient(router).call(body: message)
        #expect(reply["x-first"] == (withHeaders ? "1" : nil))
        #expect(reply["x-last"] == "2")
        #expect(reply["grpc-status"] == "10")
        #expect(reply.headerSections == (withHeaders ? 2 : 1))
    }

    @Test func aClientThatTakesNoCompressionGetsNone() throws {
        var router = Router()
        router.add(Self.method) { (request: HealthCheckRequest, context) in
            context.compressesResponses = true
            return request
        }
        let reply = try RawClient(router).call(body: message)
        #expect(reply["grpc-encoding"] == nil)
        #expect(reply.body == message)
    }

    @Test func aZipBombIsRefused() throws {
        let bomb = [UInt8](repeating: 0, count: 100_000).withUnsafeBytes { MessageEncoding.gzip.compress($0) }
        var frame = [0, 0, 0, 0, 0] + bomb
        MessagePrefix.write(to: &frame, compressed: true)
        let reply = try RawClient(echo()).call(adding: [("grpc-encoding", "gzip")], body: frame)
        #expect(reply["grpc-status"] == "8")
    }

    @Test(
        arguments: [
            ([], 3),  // no message
            ([0, 0, 0], 3),  // ends within a prefix
            ([0, 0, 0, 0, 2, 0x0A], 3),  // ends within a message
            ([0, 0, 0, 0, 1, 0x0A], 3),  // no valid protobuf
            ([1, 0, 0, 0, 0], 13),  // compressed without an encoding
            ([2, 0, 0, 0, 0], 13),  // an invalid flag
            ([0, 0xFF, 0xFF, 0xFF, 0xFF], 8),  // over the limit
            ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 3),  // two messages
        ] as [([UInt8], Int)])
    func malformedMessagesAreRefused(body: [UInt8], status: Int) throws {
        let reply = try RawClient(echo()).call(body: body)
        #expect(reply["grpc-status"] == "\(status)")
        #expect(reply.body.isEmpty)
    }

    @Test func aBrokenRequestOfOursNamesTheMessage() throws {
        let reply = try RawClient(echo()).call(body: [0, 0, 0, 0, 1, 0x0A])
        let details = try #require(Base64.decode(reply["grpc-status-details-bin"] ?? ""))
        #expect(try ErrorDetail(decoding: details).code == "DATA_GATEWAY_INVALID_ARGUMENT")
        #expect(reply["grpc-message"]?.contains("grpc.health.v1.HealthCheckRequest") == true)
    }

    @Test func aHeaderSectionOverTheLimitIs431() throws {
        let filler = (0..<20).map { ("x-filler-\($0)", String(repeating: "a", count: 1000)) }
        #expect(try RawClient(echo()).call(adding: filler, body: message)[":status"] == "431")
    }

    @Test func metadataAndPeerReachTheAdmissionAfterTheInterceptors() throws {
        struct Name: CallerIdentity {
            let text: String
            func describe(in line: inout LogLine) { line.add("principal", text) }
        }
        struct Recorder: Interceptor {
            let number: String
            func received(_ context: CallContext) {
                context.identity = Name(text: ((context.identity as? Name)?.text ?? "") + number)
            }
        }
        struct Refusal: Admission {
            func admit(_ context: CallContext) async throws(RPCError) {
                let name = (context.identity as? Name)?.text ?? ""
                throw .permissionDenied("\(name) \(context.peer.host) \(context.metadata["x-custom"] ?? "")")
            }
        }
        let client = RawClient(
            echo(), interceptors: [Recorder(number: "1"), Refusal(), Recorder(number: "2")])
        let reply = try client.call(adding: [("x-custom", "value")], body: message)
        #expect(reply["grpc-message"] == "12 192.0.2.1 value")
        #expect(reply["grpc-status"] == "7")
    }

    @Test func theErrorOfAHandlerIsHidden() throws {
        struct Leaky: Error, CustomStringConvertible { let description = "SELECT secret FROM table" }
        var router = Router()
        router.add(Self.method) { (_: HealthCheckRequest, _) -> HealthCheckResponse in throw Leaky() }
        let reply = try RawClient(router).call(body: message)
        #expect(reply["grpc-status"] == "13")
        #expect(reply["grpc-message"] == "the gateway failed")
    }

    @Test func interceptorsHearWhatTheClientIsToldAndItsCause() throws {
        struct Leaky: Error, CustomStringConvertible { let description = "SELECT secret FROM table" }
        struct Reporter: Interceptor {
            let report: @Sendable (RPCError) -> Void
            func finished(_ context: CallContext, status: StatusCode, error: RPCError?) {
                if let error { report(error) }
            }
        }
        var router = Router()
        router.add(Self.method) { (_: HealthCheckRequest, _) -> HealthCheckResponse in throw Leaky() }
        let reported = Lock<[RPCError]>([])
        _ = try RawClient(router, interceptors: [Reporter { error in reported.withLock { $0.append(error) } }])
            .call(body: message)
        let error = try #require(reported.withLock { $0 }.first)
        #expect(error.message == "the gateway failed" && error.explanation == "SELECT secret FROM table")
        #expect(error == RPCError(bare: .internalError, "the gateway failed") && error.cause is Leaky)
    }

    @Test func theRequestsIDIsToldOnceInEveryResponsesHeader() throws {
        struct Announcer: Interceptor {
            func received(_ context: CallContext) { context.announcesRequestID = true }
        }
        let client = RawClient(echo(), interceptors: [Announcer()])
        let given = try client.call(adding: [("x-request-id", "mine")], body: message)
        func ids(_ reply: RawClient.Stream) -> [String] {
            reply.fields.filter { $0.name == "x-request-id" }.map(\.value)
        }
        #expect(ids(given) == ["mine"] && given[":status"] == "200")
        #expect(given["content-type"] == "application/grpc" && given["grpc-status"] == "0")
        let made = try (0..<3).flatMap { _ in ids(try client.call(body: message)) }
        #expect(Set(made).count == 3 && made.allSatisfy { $0.utf8.count == 32 })
        let refused = try client.call(adding: [("x-request-id", "yours")], body: [0, 0, 0, 0, 1, 0xFF])
        #expect(ids(refused) == ["yours"] && refused["grpc-status"] == "3")
    }

    /// Internal errors have the code of the service; too many calls are reported, by AuthService without a detail.
    @Test(
        arguments: [
            ("archebase.auth.v1.AuthService", 10_000, "13", "AUTH_INTERNAL_ERROR"),
            ("archebase.data_gateway.v1.DataGatewayService", 10_000, "13", "DATA_GATEWAY_INTERNAL_ERROR"),
            ("archebase.auth.v1.AuthService", 0, "14", nil),
            ("archebase.data_gateway.v1.DataGatewayService", 0, "14", "DATA_GATEWAY_OVERLOADED"),
        ] as [(String, Int, String, String?)])
    func failuresOfTheServerHaveTheirStatus(service: String, handlers: Int, status: String, detail: String?) throws {
        struct Failure: Error {}
        var router = Router()
        router.add(MethodDescriptor(service: service, name: "Call", kind: .unary)) {
            (_: HealthCheckRequest, _) -> HealthCheckResponse in throw Failure()
        }
        var limits = RPCLimits.small
        limits.maxHandlers = handlers
        let reply = try RawClient(router, limits: limits).call(
            changing: [":path": "/\(service)/Call"], body: message)
        #expect(reply["grpc-status"] == status)
        let details = reply["grpc-status-details-bin"].flatMap { Base64.decode($0) }
        #expect(try details.map { try ErrorDetail(decoding: $0).code } == detail)
    }

    @Test func retryAfterTravels() throws {
        var router = Router()
        router.add(Self.method) { (_: HealthCheckRequest, _) -> HealthCheckResponse in
            throw RPCError(.rateLimited, "too many", retryAfterMilliseconds: 1500)
        }
        let reply = try RawClient(router).call(body: message)
        #expect(reply["grpc-status"] == "14")
        #expect(reply["retry-after-ms"] == "1500")
    }

    @Test func callsTrapOnAnotherThreadThanTheLoops() async {
        // The beginning of a call, its end, and the server's.
        await #expect(processExitsWith: .failure) {
            let client = RawClient(ServerCallTests().echo())
            client.loop.isCurrent = false
            _ = try client.call(body: ServerCallTests().message)
        }
        await #expect(processExitsWith: .failure) {
            let client = RawClient(ServerCallTests().echo())
            let call = client.begin(body: ServerCallTests().message, isWhole: false)
            try client.exchange()
            client.loop.isCurrent = false
            call.finish()
            try client.exchange()
        }
        await #expect(processExitsWith: .failure) {
            let client = RawClient(ServerCallTests().echo())
            _ = try client.call(body: ServerCallTests().message, isWhole: false)
            client.loop.isCurrent = false
            client.connection.stop()
        }
    }
}
