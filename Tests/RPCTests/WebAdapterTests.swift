import Basics
import GatewayFormats
import Proto
import RPC
import TestSupport
import Testing
import Wire

/// Connect and gRPC-Web over HTTP/2, without a socket.
@Suite(.timeLimited) struct WebAdapterTests {
    private let client: RawClient

    private static let echo = MethodDescriptor(
        service: "test.Service", name: "Echo", kind: .unary, isSideEffectFree: true)
    private static let refuse = MethodDescriptor(service: "test.Service", name: "Refuse", kind: .unary)
    private static let `repeat` = MethodDescriptor(service: "test.Service", name: "Repeat", kind: .serverStreaming)

    init() throws {
        var router = Router()
        router.add(Self.echo) { (request: HealthCheckRequest, context) in
            context.responseMetadata.append(name: "x-first", value: "1")
            context.trailingMetadata.append(name: "x-last", value: "2")
            context.compressesResponses = context.requestWasCompressed
            return request
        }
        router.add(Self.refuse) { (request: HealthCheckRequest, context) -> HealthCheckRequest in
            throw RPCError(.deviceNotReady, "not \"\(request.service)\"", retryAfterMilliseconds: 7)
        }
        router.add(Self.repeat) {
            (request: HealthCheckRequest, responses: ResponseWriter<HealthCheckRequest>, context) in
            context.compressesResponses = context.requestWasCompressed
            for _ in 0..<2 { try await responses.write(request) }
            if request.service == "stop" { throw RPCError.failedPrecondition("stopped") }
            context.trailingMetadata.append(name: "x-last", value: "2")
        }
        client = RawClient(
            RPCServer(
                router: router, limits: .small, errors: .gateway,
                web: WebProtocols(
                    json: JSONMapping(schema: try Schema(ProtoFiles.all)),
                    crossOrigin: CrossOrigin(origins: ["https://app.example"]))))
    }

    private func call(
        _ path: String, _ type: String, _ body: [UInt8], method: String = "POST", _ more: [(String, String)] = [],
        isWhole: Bool = true
    ) throws -> RawClient.Stream {
        try client.call(
            changing: [":path": "/test.Service/\(path)", "content-type": type, "te": nil, ":method": method],
            adding: more, body: body, isWhole: isWhole)
    }

    private func text(_ reply: RawClient.Stream) -> String { String(decoding: reply.body, as: UTF8.self) }

    private func frame(_ message: [UInt8], flag: UInt8 = 0) -> [UInt8] {
        var frame = [0, 0, 0, 0, 0] + message
        MessagePrefix.write(to: &frame)
        frame[0] = flag
        return frame
    }

    private let hi: [UInt8] = [0x0A, 2, 0x68, 0x69]
    private let hiJSON = Array(#"{"service":"hi"}"#.utf8)

    // MARK: Content types and deadlines

    @Test(arguments: [
        "Application/JSON", "application/json ; charset=utf-8", "application/json\t;charset=UTF-8",
        "APPLICATION/JSON;a=b",
    ])
    func mediaTypeHasNoCaseAndMayHaveBlanks(type: String) throws {
        #expect(try text(call("Echo", type, hiJSON)) == #"{"service":"hi"}"#)
        #expect(try call("Echo", type.lowercased().replacing("json", with: "proto"), hi).body == hi)
        let web = type.lowercased().replacing("json", with: "grpc-web+proto")
        #expect(try call("Echo", web, frame(hi))[":status"] == "200")
    }

    @Test(arguments: ["0", "0000000000"])
    func deadlineThatHasPassedEndsTheCall(milliseconds: String) throws {
        let reply = try call("Echo", "application/json", hiJSON, [("connect-timeout-ms", milliseconds)])
        #expect(text(reply).contains("deadline_exceeded"))
    }

    // MARK: Connect, unary

    @Test func aUnaryCallInJSON() throws {
        let reply = try call("Echo", "application/json; charset=UTF-8", Array(#" {"service" : "hi"} "#.utf8))
        #expect(reply[":status"] == "200")
        #expect(reply["content-type"] == "application/json")
        #expect(reply["x-first"] == "1")
        #expect(reply["trailer-x-last"] == "2")
        #expect(reply["grpc-status"] == nil)
        #expect(reply.headerSections == 1)
        #expect(text(reply) == #"{"service":"hi"}"#)
        #expect(reply.closeCode == 0)
    }

    @Test func aUnaryCallInProto() throws {
        let reply = try call("Echo", "application/proto", hi)
        #expect(reply["content-type"] == "application/proto")
        #expect(reply.body == hi)
        // A message without fields has no bytes.
        #expect(try call("Echo", "application/proto", [])[":status"] == "200")
    }

    @Test func aFailureIsJSONWhateverTheCodec() throws {
        for (type, body) in [("application/json", hiJSON), ("application/proto", hi)] {
            let reply = try call("Refuse", type, body)
            #expect(reply[":status"] == "400")
            #expect(reply["content-type"] == "application/json")
            #expect(reply["retry-after-ms"] == "7")
            let detail = ErrorDetail(code: "DATA_GATEWAY_DEVICE_NOT_READY", message: "not \"hi\"")
            let value = Base64.encode(detail.encoded()).replacing("=", with: "")
            #expect(
                text(reply) == #"{"code":"failed_precondition","message":"not \"hi\"","details":["#
                    + #"{"type":"archebase.common.v1.ErrorDetail","value":"\#(value)","#
                    + #""debug":{"code":"DATA_GATEWAY_DEVICE_NOT_READY","message":"not \"hi\""}}]}"#)
        }
    }

    @Test(arguments: [
        ("", "{}"), ("{", "the text is not valid JSON"),
        (#"{"service":1}"#, "service: the value is not valid for the field"),
        (#"{"servise":"hi"}"#, "servise: the field is unknown"), ("{}{}", "the text is not valid JSON, at byte 2"),
        (#"{"service":"\#(String(repeating: "a", count: 1000))"}"#, "exceeds the limit of 1000 bytes"),
    ])
    func brokenJSONIsExplained(body: String, explanation: String) throws {
        let reply = try call("Echo", "application/json", Array(body.utf8))
        #expect(reply[":status"] == (body.count > 1000 ? "429" : "400"))
        #expect(text(reply).contains(explanation))
    }

    @Test func aUnaryCallIsCompressedBothWays() throws {
        for encoding in MessageEncoding.allCases {
            let body = hiJSON.withUnsafeBytes { encoding.compress($0) }
            let fields = [
                ("content-encoding", encoding.rawValue), ("accept-encoding", "br, \(encoding.rawValue);q=0.5"),
            ]
            let reply = try call("Echo", "application/json", body, fields)
            #expect(reply["content-encoding"] == encoding.rawValue)
            #expect(try reply.body.withUnsafeBytes { try encoding.decompress($0, limit: 100) } == hiJSON)
            #expect(try call("Echo", "application/json", body, [fields[0]])["content-encoding"] == nil)
        }
        let unknown = try call("Echo", "application/json", hiJSON, [("content-encoding", "br")])
        #expect(unknown[":status"] == "501")
        #expect(unknown["accept-encoding"] == "identity,gzip,deflate")
        #expect(try call("Echo", "application/json", hiJSON, [("content-encoding", "gzip")])[":status"] == "400")
        let bomb = [UInt8](repeating: 0x20, count: 5000).withUnsafeBytes { MessageEncoding.gzip.compress($0) }
        #expect(try call("Echo", "application/json", bomb, [("content-encoding", "gzip")])[":status"] == "429")
    }

    @Test(arguments: [
        ("connect-timeout-ms", "12345678901"), ("connect-timeout-ms", "-1"), ("connect-timeout-ms", ""),
        ("connect-protocol-version", "2"),
    ])
    func brokenFieldsOfConnect(name: String, value: String) throws {
        let reply = try call("Echo", "application/json", hiJSON, [(name, value)])
        #expect(reply[":status"] == "400")
        #expect(text(reply).contains(name))
        let fine = [("connect-timeout-ms", "1000"), ("connect-protocol-version", "1"), ("grpc-timeout", "no")]
        #expect(try call("Echo", "application/json", hiJSON, fine)[":status"] == "200")
    }

    // MARK: GET

    @Test(arguments: [
        ("message=%7B%22service%22%3A&encoding=json", Array("\"x\"}".utf8)),
        ("message=%7B%22service%22%3A%22hi%22%7D&encoding=json", Array(" ".utf8)),
        ("message=CgJoaQ&encoding=proto&base64=1", [0x0A, 1, 0x78]),
    ])
    func bodyOfAGETIsRefused(query: String, body: [UInt8]) throws {
        for pieces in [[body], body.map { [$0] }] {
            let reply = try call("Echo?\(query)", "", pieces.flatMap(\.self), method: "GET")
            #expect(reply[":status"] == "400")
            #expect(text(reply).contains("a GET must not have a body"))
        }
        #expect(try call("Echo?message=CgJoaQ&encoding=proto&base64=1", "", [], method: "GET").body == hi)
    }

    @Test(arguments: [
        ("encoding=json&message=%7B%22service%22%3A%22hi%22%7D", #"{"service":"hi"}"#),
        ("connect=v1&encoding=json&base64=1&message=eyJzZXJ2aWNlIjoiaGkifQ", #"{"service":"hi"}"#),
        ("encoding=proto&message=", ""),
    ])
    func aCallWithoutSideEffectsByGET(query: String, response: String) throws {
        let reply = try call("Echo?\(query)", "", [], method: "GET")
        #expect(reply[":status"] == "200")
        #expect(text(reply) == response)
    }

    @Test(arguments: [
        ("", "encoding="), ("encoding=json", "message"), ("encoding=xml&message=x", "encoding=json"),
        ("encoding=json&message=%7", "percent"), ("encoding=json&message=a&message=b", "more than once"),
        ("encoding=json&message=a&base64=1", "base64"), ("encoding=json&message=a&connect=2", "v1"),
        ("encoding=json&message=a&compression=br", "compression"),
    ])
    func malformedQueryIsRefusedWithAnExplanation(query: String, explanation: String) throws {
        let reply = try call("Echo?\(query)", "", [], method: "GET")
        #expect(["400", "501"].contains(reply[":status"]))
        #expect(text(reply).contains(explanation))
    }

    // MARK: Requests that are not calls

    @Test(arguments: [
        ("Echo", "text/plain", "POST", "415"), ("Echo", "", "POST", "415"), ("Echo", "application/xml", "POST", "415"),
        ("Echo", "application/json; charset=latin1", "POST", "415"),
        ("Echo", "application/connect+json", "POST", "415"),
        ("Repeat", "application/json", "POST", "415"), ("Nothing", "application/json", "POST", "404"),
        ("Refuse", "application/json", "GET", "405"), ("Repeat?message=x&encoding=json", "", "GET", "405"),
        ("Echo", "application/json", "PUT", "405"), ("Echo", "application/json", "OPTIONS", "405"),
    ])
    func requestThatIsNoCallIsRefused(path: String, type: String, method: String, status: String) throws {
        let reply = try call(path, type, hiJSON, method: method)
        #expect(reply[":status"] == status)
        #expect(reply["content-type"] == "application/json")
        #expect(reply["allow"] == (status == "405" ? (path == "Echo" ? "GET, POST" : "POST") : nil))
        let offer = path == "Echo" ? "application/json, " : "application/connect+json, "
        #expect(reply["accept-post"]?.contains(offer) == (status == "415" ? true : nil))
        #expect(text(reply).hasPrefix(status == "404" ? #"{"code":"unimplemented""# : #"{"code":"unknown""#))
    }

    @Test func aServerWithoutASchemaTakesNoJSON() throws {
        var router = Router()
        router.add(Self.echo) { (request: HealthCheckRequest, _) in request }
        let reply = try RawClient(router).call(
            changing: [":path": Self.echo.path, "content-type": "application/json"], body: hiJSON)
        #expect(reply[":status"] == "415")
        #expect(reply["accept-post"]?.contains("json") == false)
    }

    // MARK: Connect, streams

    @Test func aStreamInJSON() throws {
        let reply = try call("Repeat", "application/connect+json", frame(hiJSON))
        #expect(reply[":status"] == "200")
        #expect(reply["content-type"] == "application/connect+json")
        let end = frame(Array(#"{"metadata":{"x-last":["2"]}}"#.utf8), flag: 2)
        #expect(reply.body == frame(hiJSON) + frame(hiJSON) + end)
    }

    @Test func aStreamThatFails() throws {
        let stop: [UInt8] = [0x0A, 4] + Array("stop".utf8)
        let reply = try call("Repeat", "application/connect+proto", frame(stop))
        let messages = frame(stop) + frame(stop)
        #expect(reply[":status"] == "200")
        #expect(Array(reply.body.prefix(messages.count)) == messages)
        #expect(reply.body[messages.count] == 2)
        #expect(text(reply).contains(#"{"error":{"code":"failed_precondition","message":"stopped","details":["#))
    }

    @Test func aStreamIsCompressedBothWays() throws {
        let message = hiJSON.withUnsafeBytes { MessageEncoding.gzip.compress($0) }
        let fields = [("connect-content-encoding", "gzip"), ("connect-accept-encoding", "gzip")]
        let reply = try call("Repeat", "application/connect+json", frame(message, flag: 1), fields)
        #expect(reply["connect-content-encoding"] == "gzip")
        #expect(Array(reply.body.prefix(5 + message.count)) == frame(message, flag: 1))
    }

    @Test(
        arguments: [
            ([], "invalid_argument"), ([0, 0, 0], "invalid_argument"), ([0, 0, 0, 0, 9, 1], "invalid_argument"),
            ([2, 0, 0, 0, 0], "internal"), ([1, 0, 0, 0, 0], "internal"), ([0, 1, 0, 0, 0], "resource_exhausted"),
        ] as [([UInt8], String)])
    func malformedStreamEndsWithAnError(body: [UInt8], code: String) throws {
        let reply = try call("Repeat", "application/connect+proto", body)
        #expect(reply[":status"] == "200")
        #expect(text(reply).contains(#"{"error":{"code":"\#(code)""#))
    }

    // MARK: gRPC-Web

    @Test(arguments: ["application/grpc-web", "application/grpc-web+proto"])
    func gRPCWebHasItsTrailersInTheBody(type: String) throws {
        let reply = try call("Echo", type, frame(hi), [("x-grpc-web", "1")])
        #expect(reply[":status"] == "200")
        #expect(reply["content-type"] == type)
        #expect(reply["x-first"] == "1")
        #expect(reply.headerSections == 1)
        #expect(reply.body == frame(hi) + frame(Array("grpc-status: 0\r\nx-last: 2\r\n".utf8), flag: 0x80))
    }

    @Test func gRPCWebFails() throws {
        let reply = try call("Refuse", "application/grpc-web+proto", frame(hi))
        #expect(reply[":status"] == "200")
        #expect(reply.body.first == 0x80)
        #expect(text(reply).contains("grpc-status: 9\r\ngrpc-message: not \"hi\"\r\ngrpc-status-details-bin: "))
        #expect(try call("Repeat", "application/grpc-web", [0, 0, 0, 0, 9, 1]).body.first == 0x80)
    }

    @Test func gRPCWebIsCompressedBothWays() throws {
        let message = hi.withUnsafeBytes { MessageEncoding.gzip.compress($0) }
        let fields = [("grpc-encoding", "gzip"), ("grpc-accept-encoding", "gzip")]
        let reply = try call("Echo", "application/grpc-web", frame(message, flag: 1), fields)
        #expect(reply["grpc-encoding"] == "gzip")
        #expect(Array(reply.body.prefix(5 + message.count)) == frame(message, flag: 1))
    }

    @Test func gRPCWebText() throws {
        let body = Array(Base64.encode(frame(hi)).utf8)
        let reply = try call("Echo", "application/grpc-web-text", body)
        #expect(reply["content-type"] == "application/grpc-web-text")
        var stream = Base64Stream()
        let decoded = try reply.body.withUnsafeBytes { try stream.decode($0) }
        #expect(decoded == frame(hi) + frame(Array("grpc-status: 0\r\nx-last: 2\r\n".utf8), flag: 0x80))
        for broken in ["AAAA?", "AAAAB", "AAA"] {
            let reply = try call("Echo", "application/grpc-web-text", Array(broken.utf8))
            #expect(try reply.body.withUnsafeBytes { try stream.decode($0) }.starts(with: [0x80]))
        }
    }

    // MARK: Requests that end after their response

    @Test func aClientMayGoOnAfterItsAnswer() throws {
        let json = try call("Nothing", "application/json", hiJSON, isWhole: false)
        #expect(json[":status"] == "404")
        #expect(json.closeCode == nil)
        json.finish()
        _ = try call("Echo", "application/json", hiJSON)
        #expect(json.closeCode == 0)
        let endless = try call("Nothing", "application/json", [UInt8](repeating: 0, count: 17 << 20), isWhole: false)
        #expect(endless.closeCode == 0)
        let grpc = try call("Nothing", "application/grpc", [], isWhole: false)
        #expect(grpc.closeCode == 0)
    }

    // MARK: CORS

    @Test func aPreflightFromAnAllowedOriginIsAnswered() throws {
        let fields = [("origin", "https://app.example"), ("access-control-request-method", "POST")]
        let reply = try call("Echo", "", [], method: "OPTIONS", fields)
        #expect(reply[":status"] == "204")
        #expect(reply["access-control-allow-origin"] == "https://app.example")
        #expect(reply["access-control-allow-methods"] == "GET, POST")
        #expect(reply["access-control-allow-headers"]?.contains("authorization") == true)
        #expect(reply["access-control-max-age"] == "7200")
        let stranger = [("origin", "https://evil.example"), fields[1]]
        #expect(try call("Echo", "", [], method: "OPTIONS", stranger)["access-control-allow-origin"] == nil)
    }

    @Test(arguments: ["Echo", "Refuse", "Nothing"])
    func allowedPageMayReadTheResponse(path: String) throws {
        let reply = try call(path, "application/json", hiJSON, [("origin", "https://app.example")])
        #expect(reply["access-control-allow-origin"] == "https://app.example")
        #expect(reply["access-control-expose-headers"]?.contains("grpc-status") == true)
        #expect(reply["vary"] == "origin")
        let other = try call(path, "application/json", hiJSON, [("origin", "https://evil.example")])
        #expect(other["access-control-allow-origin"] == nil)
        #expect(other["vary"] == "origin")
    }
}
