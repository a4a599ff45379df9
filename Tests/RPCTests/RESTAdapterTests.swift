import GatewayFormats
import Proto
import RPC
import TestSupport
import Testing
import Wire
import WireTesting

/// Tests REST over HTTP/2, without a socket, with the routes of rest_shapes.proto.
@Suite(.timeLimited) struct RESTAdapterTests {
    private let client: RawClient

    init() throws {
        var router = Router()
        router.add(MessagingMethods.getMessage) { (request: GetMessageRequest, _) in TextMessage(request: request) }
        router.add(MessagingMethods.getNamedMessage) { (request: GetNamedMessageRequest, _) in
            TextMessage(text: request.name)
        }
        router.add(MessagingMethods.updateMessage) { (request: UpdateMessageRequest, _) in
            var message = request.message ?? TextMessage()
            (message.messageID, message.mask) = (request.messageID, request.updateMask)
            return message
        }
        router.add(MessagingMethods.replaceMessage) { (request: TextMessage, _) in request }
        router.add(MessagingMethods.listMessages) { (_: GetMessageRequest, _) in
            TextMessages(messages: [TextMessage(text: "a"), TextMessage(text: "b")])
        }
        router.add(MessagingMethods.getFile) { (request: GetNamedMessageRequest, _) in TextMessage(text: request.name) }
        router.add(MessagingMethods.search) { (request: SearchRequest, _) in request }
        router.add(BodiesMethods.upload) { (requests: RequestStream<UploadPiece>, _) in
            var message = TextMessage()
            for try await piece in requests {
                message.messageID += piece.name
                message.text += "[\(piece.content?.contentType ?? "-")|\(piece.content?.data.count ?? 0)]"
            }
            return message
        }
        router.add(BodiesMethods.put) { (request: UploadPiece, _) in
            TextMessage(
                messageID: request.name,
                text:
                    "\(request.content?.contentType ?? "") \(String(decoding: request.content?.data ?? [], as: UTF8.self))"
            )
        }
        router.add(BodiesMethods.fetch) { (request: GetNamedMessageRequest, context) in
            context.responseMetadata.append(name: "content-disposition", value: "attachment")
            return HttpBody(contentType: "text/plain", data: Array(request.name.utf8))
        }
        router.add(BodiesMethods.stream) { (request: StreamRequest, responses: ResponseWriter<HttpBody>, _) in
            try await Self.stream(request) {
                try await responses.write(HttpBody(contentType: "image/png", data: [0x61 + $0]))
            }
        }
        router.add(BodiesMethods.watch) { (request: StreamRequest, responses: ResponseWriter<TextMessage>, _) in
            try await Self.stream(request) { try await responses.write(TextMessage(text: "\($0)")) }
        }
        router.add(BodiesMethods.pieces) { (request: StreamRequest, responses: ResponseWriter<UploadPiece>, _) in
            try await Self.stream(request) { try await responses.write(UploadPiece(raw: [0x61 + $0])) }
        }
        for method in [
            NestedStyleMethods.nested, HTTPErrorStyleMethods.plain, CodeStyleMethods.code, MessageStyleMethods.sniffed,
        ] {
            router.add(method) { (request: StyledRequest, _) in try Self.styled(request) }
        }
        router.add(routes: TestFiles.routes)
        let schema = try Schema(ProtoFiles.all + TestFiles.all)
        client = RawClient(
            RPCServer(
                router: router, limits: .small, errors: .gateway,
                web: WebProtocols(
                    json: JSONMapping(schema: schema), crossOrigin: CrossOrigin(origins: ["https://app.example"]))))
    }

    private static func stream(_ request: StreamRequest, _ write: (UInt8) async throws -> Void) async throws {
        for index in 0..<UInt8(request.count) { try await write(index) }
        if request.fails { throw RPCError.failedPrecondition("stopped") }
    }

    private static func styled(_ request: StyledRequest) throws -> StyledResponse {
        if let status = StatusCode(rawValue: Int(request.failure)), status != .ok {
            throw RPCError(bare: status, "refused")
        }
        return StyledResponse(userName: request.userName, tags: request.tags, photo: request.photo, age: request.age)
    }

    private func call(
        _ method: String, _ path: String, _ body: String = "", type: String? = nil, more: [(String, String)] = []
    ) throws -> RawClient.Stream {
        try client.call(
            changing: [
                ":path": path, ":method": method, "te": nil,
                "content-type": type ?? (body.isEmpty ? nil : "application/json"),
            ], adding: more, body: Array(body.utf8))
    }

    private func text(_ reply: RawClient.Stream) -> String { String(decoding: reply.body, as: UTF8.self) }

    private func sent(_ method: String, _ path: String, _ body: String = "", type: String? = nil) throws -> String {
        let reply = try call(method, path, body, type: type)
        return "\(reply[":status"] ?? "") \(text(reply))"
    }

    // MARK: The examples of google/api/http.proto

    @Test(arguments: [
        ("GET", "/v1/named/123456", "", #"{"text":"named/123456"}"#),
        (
            "GET", "/v1/messages/123456?revision=2&sub.subfield=foo", "",
            #"{"request":{"messageId":"123456","revision":"2","sub":{"subfield":"foo"}}}"#
        ),
        ("PATCH", "/v1/messages/123456", #"{ "text": "Hi!" }"#, #"{"messageId":"123456","text":"Hi!","mask":"text"}"#),
        ("PUT", "/v1/messages/123456", #"{ "text": "Hi!" }"#, #"{"messageId":"123456","text":"Hi!"}"#),
        ("GET", "/v1/messages/123456", "", #"{"request":{"messageId":"123456"}}"#),
        ("GET", "/v1/users/me/messages/123456", "", #"{"request":{"messageId":"123456","userId":"me"}}"#),
    ])
    func exampleBecomesItsCall(method: String, path: String, body: String, response: String) throws {
        #expect(try sent(method, path, body) == "200 \(response)")
    }

    // MARK: Requests

    @Test(arguments: [
        ("text=a+b%26&deep=true&ratio=1.5&token=AQI", #"{"text":"a b&","deep":true,"token":"AQI=","ratio":1.5}"#),
        ("numbers=1&numbers=-2", #"{"numbers":[1,-2]}"#), ("order=ORDER_NEWEST", #"{"order":"ORDER_NEWEST"}"#),
        ("order=1", #"{"order":"ORDER_NEWEST"}"#), ("since=2026-01-31T10:00:00Z", #"{"since":"2026-01-31T10:00:00Z"}"#),
        ("within=1.5s&limit=7&fields=a,b.cD", #"{"within":"1.500s","fields":"a,b.cD","limit":"7"}"#),
        ("nested.nested.text=x&nested.deep=true", #"{"nested":{"deep":true,"nested":{"text":"x"}}}"#),
        ("note=&left=", #"{"note":"","left":""}"#), ("text=", "{}"), ("", "{}"),
    ])
    func parametersBecomeFields(query: String, response: String) throws {
        #expect(try sent("GET", "/v1/search?\(query)") == "200 \(response)")
        #expect(try sent("REPORT", "/v1/search?\(query)") == "200 \(response)")
    }

    @Test(arguments: [
        ("/v1/search?tex=a", "the parameter tex is unknown"),
        ("/v1/search?text.a=1", "the parameter text.a is unknown"),
        ("/v1/search?text=a&text=b", "text is given twice"), ("/v1/search?nested=1", "nested cannot be a parameter"),
        ("/v1/search?labels=1", "labels cannot be a parameter"), ("/v1/search?deep=1", "deep: the value is not valid"),
        ("/v1/search?order=NEWEST", "order: the value is not valid"),
        ("/v1/search?numbers=x", "numbers: the value is not valid"),
        ("/v1/search?text=%FF", "text: the value is not valid"),
        ("/v1/search?left=1&right=2", "right cannot be combined with another parameter"),
        ("/v1/search?a=%4", "not correctly percent-encoded"),
        ("/v1/messages/1?message_id=2", "or is in the path as well"),
        ("/v1/messages/%FF", "message_id in the path: the value is not valid"),
    ])
    func wrongParameterIsNamed(path: String, explanation: String) throws {
        let reply = try call("GET", path)
        #expect(reply[":status"] == "400")
        #expect(text(reply).contains(explanation) && text(reply).contains(#""reason":"DATA_GATEWAY_INVALID_ARGUMENT""#))
    }

    @Test func pathGoesBeforeTheBody() throws {
        #expect(try sent("PUT", "/v1/messages/1", #"{"messageId":"2"}"#) == #"200 {"messageId":"1"}"#)
    }

    @Test func maskIsMadeOfTheMembersUnlessItIsGiven() throws {
        let body = #"{"text":"a","request":{"sub":{},"revision":1}}"#
        #expect(
            try sent("PATCH", "/v1/messages/1", #"{"text":"a","request":{"sub":{"subfield":"x"},"revision":"1"}}"#)
                .contains(
                    #""mask":"text,request.sub.subfield,request.revision""#))
        #expect(try sent("PATCH", "/v1/messages/1?update_mask=text", body).contains(#""mask":"text""#))
    }

    @Test(arguments: [
        ("PUT", "/v1/messages/1", "{", "the text is not valid JSON"),
        ("PUT", "/v1/messages/1", #"{"tex":1}"#, "tex: the field is unknown"),
        ("GET", "/v1/messages/1", "{}", "takes no body"),
        ("PUT", "/v1/messages/1?text=a", "{}", "text must be in the body"),
        ("PUT", "/v1/messages/1", "", "the body is missing: PUT of this path needs a JSON object"),
        ("PATCH", "/v1/messages/1", "", "the body is missing: PATCH of this path needs"),
    ])
    func wrongBodyIsExplained(method: String, path: String, body: String, explanation: String) throws {
        let reply = try call(method, path, body)
        #expect(reply[":status"] == "400")
        #expect(text(reply).contains(explanation))
    }

    /// A POST without a body is one whose fields all have their defaults, and a file may be empty.
    @Test func bodyOfPostAndOfFileMayBeEmpty() throws {
        #expect(try call("POST", "/nested", "")[":status"] == "200")
        #expect(try call("PUT", "/v1/bodies/a", "")[":status"] == "200")
        #expect(try sent("PUT", "/v1/messages/1", "{}") == #"200 {"messageId":"1"}"#)
    }

    @Test func bodyOfAnotherTypeIsRefused() throws {
        let reply = try call("PUT", "/v1/messages/1", "text=a", type: "application/x-www-form-urlencoded")
        #expect(reply[":status"] == "415" && reply["accept"] == "application/json")
        let untyped = try client.call(
            changing: [":path": "/v1/messages/1", ":method": "PUT", "te": nil, "content-type": nil],
            body: Array("{}".utf8))
        #expect(untyped[":status"] == "400")
        #expect(text(untyped).contains("the content type of the body must be application/json"))
    }

    @Test func compressedBodyIsInflatedWithinLimits() throws {
        let fields = [("content-encoding", "gzip")]
        func put(_ body: [UInt8]) throws -> RawClient.Stream {
            try client.call(
                changing: [":path": "/v1/messages/1", ":method": "PUT", "te": nil, "content-type": "application/json"],
                adding: fields, body: body.withUnsafeBytes { MessageEncoding.gzip.compress($0) })
        }
        #expect(text(try put(Array(#"{"text":"a"}"#.utf8))) == #"{"messageId":"1","text":"a"}"#)
        #expect(try put([UInt8](repeating: 0x20, count: 5000))[":status"] == "413")
        #expect(try call("PUT", "/v1/messages/1", "{}", more: [("content-encoding", "br")])[":status"] == "501")
    }

    // MARK: Bodies that are not JSON

    @Test func rawBodyGoesBothWays() throws {
        #expect(
            try sent("PUT", "/v1/bodies/a", "x y", type: "text/css")
                == #"200 {"messageId":"a","text":"text/css x y"}"#)
        let reply = try call("GET", "/v1/bodies/a%20b")
        #expect(reply["content-type"] == "text/plain" && reply["content-disposition"] == "attachment")
        #expect(text(reply) == "a b")
    }

    @Test func bodyInPiecesBecomesMessages() throws {
        let reply = try call("POST", "/v1/bodies/a", String(repeating: "x", count: 2500), type: "video/mp4")
        // A piece is at most as long as a message; the first has the fields of the path and the content type.
        #expect(text(reply).contains(#""messageId":"a""#) && text(reply).contains("[video/mp4|1000][|1000][|500]"))
        #expect(try sent("POST", "/v1/bodies/b") == #"200 {"messageId":"b","text":"[|0]"}"#)
    }

    // MARK: Responses

    @Test func fieldOfAResponseIsAtTheTopLevel() throws {
        #expect(try sent("GET", "/v1/messages") == #"200 [{"text":"a"},{"text":"b"}]"#)
        #expect(try sent("GET", "/v1/files/a/b%2Fc:read") == #"200 {"text":"a/b%2Fc"}"#)
    }

    @Test(arguments: [
        ("stream", nil, "image/png", "ab"), ("pieces", nil, "application/octet-stream", "ab"),
        ("watch", nil, "application/x-ndjson", "{\"result\":{\"text\":\"0\"}}\n{\"result\":{\"text\":\"1\"}}\n"),
        ("watch", "text/event-stream", "text/event-stream", "data: {\"text\":\"0\"}\n\ndata: {\"text\":\"1\"}\n\n"),
    ])
    func streamIsWrittenInItsFraming(verb: String, accept: String?, type: String, body: String) throws {
        let reply = try call("GET", "/v1/bodies/a:\(verb)?count=2", more: accept.map { [("accept", $0)] } ?? [])
        #expect(reply[":status"] == "200" && reply["content-type"] == type)
        #expect(text(reply) == body)
        #expect(reply.closeCode == 0)
    }

    @Test(arguments: [
        ("stream", nil, "a"), ("pieces", nil, "a"),
        ("watch", nil, "{\"result\":{\"text\":\"0\"}}\n{\"error\":{\"code\":400,\"message\":\"stopped\""),
        ("watch", "text/event-stream", "data: {\"text\":\"0\"}\n\nevent: error\ndata: {\"error\":"),
    ])
    func failedStreamIsBrokenOff(verb: String, accept: String?, start: String) throws {
        let reply = try call(
            "GET", "/v1/bodies/a:\(verb)?count=1&fails=true", more: accept.map { [("accept", $0)] } ?? [])
        #expect(reply[":status"] == "200")
        #expect(text(reply).hasPrefix(start))
        #expect(reply.closeCode == HTTP2ErrorCode.internalError.rawValue)
        // Before its first message a stream fails like every call.
        let early = try call("GET", "/v1/bodies/a:\(verb)?fails=true")
        #expect(early[":status"] == "400" && early.closeCode == 0)
        #expect(text(early).contains(#""message":"stopped""#))
    }

    // MARK: HTTP

    @Test func headHasTheLengthAndNoBody() throws {
        let reply = try call("HEAD", "/v1/messages/1")
        #expect(reply[":status"] == "200" && reply["content-length"] == "29" && reply.body.isEmpty)
        #expect(try call("GET", "/v1/messages/1").body.count == 29)
        let refused = try call("HEAD", "/v1/search?tex=1")
        #expect(refused[":status"] == "400" && refused.body.isEmpty)
        // A stream has no length.
        #expect(try call("HEAD", "/v1/bodies/a:watch")[":status"] == "405")
    }

    @Test func otherMethodsAreRefusedWithThoseThatAre() throws {
        let reply = try call("DELETE", "/v1/messages/1")
        #expect(reply[":status"] == "405" && reply["allow"] == "GET, HEAD, PATCH, PUT, OPTIONS")
        let options = try call("OPTIONS", "/v1/messages/1")
        #expect(
            options[":status"] == "200" && options["allow"] == "GET, HEAD, PATCH, PUT, OPTIONS" && options.body.isEmpty)
        let unknown = try call("GET", "/v1/messages/1/x")
        #expect(unknown[":status"] == "404")
        #expect(text(unknown).contains(#""status":"NOT_FOUND""#))
        // A path that begins like no route belongs to another protocol.
        #expect(try text(call("GET", "/v2")).contains(#""code":"unimplemented""#))
    }

    @Test(arguments: [("https://app.example", true), ("https://evil.example", false)])
    func pagesOfListedOriginsMayCall(origin: String, isListed: Bool) throws {
        let ask = [("origin", origin), ("access-control-request-method", "PATCH")]
        let preflight = try call("OPTIONS", "/v1/messages/1", more: ask)
        #expect(preflight[":status"] == "200")
        #expect(preflight["access-control-allow-methods"] == (isListed ? "GET, HEAD, PATCH, PUT, OPTIONS" : nil))
        for path in ["/v1/messages/1", "/v1/search?tex=1", "/v1/x"] {
            #expect(try call("GET", path, more: ask)["access-control-allow-origin"] == (isListed ? origin : nil))
        }
    }

    /// Requests that a browser sends for any page without a preflight are refused for origins that are not listed.
    @Test(arguments: [("https://app.example", "200"), ("https://evil.example", "403"), ("null", "403")])
    func requestsThatNeedNoPreflightAreRefusedFromOtherOrigins(origin: String, status: String) throws {
        let fields = [("origin", origin)]
        #expect(try call("POST", "/v1/bodies/a", more: fields)[":status"] == status)
        #expect(
            try call("POST", "/v1/bodies/a", "x", type: "text/plain;charset=utf-8", more: fields)[":status"] == status)
        // For these a browser asks, and gets no permission.
        #expect(try call("POST", "/v1/bodies/a", "x", type: "video/mp4", more: fields)[":status"] == "200")
        #expect(try call("PUT", "/v1/messages/1", "{}", more: fields)[":status"] == "200")
        // A service that takes forms has said so.
        let form = "application/x-www-form-urlencoded"
        #expect(try call("POST", "/code", "age=1", type: form, more: fields)[":status"] == "200")
        #expect(try call("GET", "/v1/messages/1", more: fields)[":status"] == "200")
    }

    @Test func timeLimitIsReadFromEitherField() throws {
        #expect(try call("GET", "/v1/messages/1", more: [("connect-timeout-ms", "x")])[":status"] == "400")
        #expect(try call("GET", "/v1/messages/1", more: [("grpc-timeout", "x")])[":status"] == "400")
        #expect(
            try call("GET", "/v1/messages/1", more: [("grpc-timeout", "x"), ("connect-timeout-ms", "100")])[":status"]
                == "200")
        // The loop's clock does not advance, so the timeout does not expire.
        #expect(try call("GET", "/v1/messages/1", more: [("grpc-timeout", "1S")])[":status"] == "200")
    }

    // MARK: Styles

    @Test func nestedStyleWritesInitialValuesAndIgnoresTheUnknown() throws {
        #expect(
            try sent("POST", "/nested?x=1", #"{"userName":"a","y":2}"#)
                == #"200 {"isUnique":false,"userName":"a","tags":[],"age":0}"#)
        #expect(
            try sent("POST", "/nested", #"{"failure":8}"#)
                == #"429 {"error":{"code":"RATE_LIMITED","message":"refused"}}"#)
    }

    @Test func nestedStyleNamesTheFieldAndTheKindOfARefusal() throws {
        let refusal = try sent("POST", "/nested", #"{"age":"x"}"#)
        #expect(refusal.hasPrefix(#"400 {"error":{"code":"DATA_GATEWAY_INVALID_ARGUMENT","message":"the body is not"#))
        #expect(refusal.hasSuffix(#""details":"age"}}"#))
        #expect(try sent("PUT", "/nested").hasPrefix(#"405 {"error":{"code":"METHOD_NOT_ALLOWED","#))
        #expect(
            try sent("POST", "/nested", "a", type: "text/plain").hasPrefix(#"415 {"error":{"code":"UNSUPPORTED"#))
        let large = String(repeating: " ", count: 5000)
        #expect(try sent("POST", "/nested", large).hasPrefix(#"413 {"error":{"code":"PAYLOAD_TOO_LARGE","#))
        // A path without a route has the form of its neighbors.
        #expect(
            try sent("GET", "/nested/more")
                == #"404 {"error":{"code":"NOT_FOUND","message":"this listener has no such path"}}"#)
        #expect(try sent("GET", "/plain/more").hasSuffix(#""error":"Not Found","statusCode":404}"#))
    }

    @Test func httpStyleWritesNullAndTheNamesOfTheFile() throws {
        #expect(
            try sent("POST", "/plain", #"{"userName":"a"}"#)
                == #"200 {"is_unique":false,"user_name":"a","avatar_url":null,"tags":[],"request":null,"photo":null,"age":0}"#
        )
        #expect(
            try sent("POST", "/plain", #"{"failure":3}"#)
                == #"400 {"message":["refused"],"error":"Bad Request","statusCode":400}"#)
        #expect(try sent("POST", "/plain", #"{"x":1}"#).hasPrefix(#"400 {"message":["#))
    }

    @Test func codeStyleTakesFormsAndAnswersFailuresWith200() throws {
        let form = "application/x-www-form-urlencoded"
        #expect(
            try sent("POST", "/code", "userName=a+b&tags=x&tags=y&age=7", type: form)
                == #"200 {"userName":"a b","tags":["x","y"],"age":7}"#)
        #expect(try sent("POST", "/code", "failure=5", type: form) == #"200 {"code":-1,"msg":"refused"}"#)
        #expect(try sent("POST", "/code", "failure=16", type: form) == #"401 {"code":-1,"msg":"refused"}"#)
        let part = "Content-Disposition: form-data; name="
        let body =
            "--b\r\n\(part)user_name\r\n\r\na\r\n--b\r\n\(part)photo; filename=\"../p.png\"\r\nContent-Type: image/png\r\n\r\n"
            + "\u{1}\r\n--b--\r\n"
        #expect(
            try sent("POST", "/code", body, type: "multipart/form-data; boundary=b")
                == #"200 {"userName":"a","photo":{"filename":"../p.png","contentType":"image/png","content":"AQ=="}}"#)
        #expect(try sent("POST", "/code", body, type: "multipart/form-data").contains("must name a boundary"))
        let wrong = "--b\r\n\(part)user_name; filename=a\r\n\r\na\r\n--b--"
        #expect(
            try sent("POST", "/code", wrong, type: "multipart/form-data; boundary=b").contains(
                "user_name cannot be a file"))
    }

    @Test func longFormIsTakenFromItsFile() throws {
        var router = Router()
        router.add(CodeStyleMethods.code) { (request: StyledRequest, _) in
            StyledResponse(userName: request.photo?.filename ?? "", age: Int32(request.photo?.content.count ?? 0))
        }
        router.add(routes: TestFiles.routes)
        let schema = try Schema(ProtoFiles.all + TestFiles.all)
        let client = RawClient(RPCServer(router: router, web: WebProtocols(json: JSONMapping(schema: schema))))
        let head = "--b\r\nContent-Disposition: form-data; name=photo; filename=p.png\r\n\r\n"
        let body = Array(head.utf8) + [UInt8](repeating: 0x2D, count: 1_500_000) + Array("\r\n--b--\r\n".utf8)
        let reply = try client.call(
            changing: [
                ":path": "/code", ":method": "POST", "te": nil, "content-type": "multipart/form-data; boundary=b",
            ], body: body)
        #expect(text(reply) == #"{"userName":"p.png","age":1500000}"#)
    }

    @Test func messageStyleSeesJSONByItsFirstCharacter() throws {
        #expect(try sent("POST", "/sniffed", #" {"userName":"a"}"#, type: "text/plain") == #"200 {"userName":"a"}"#)
        #expect(
            try sent("POST", "/sniffed", #"{"failure":14}"#, type: "text/plain") == #"503 {"message":"refused"}"#)
        #expect(try sent("POST", "/sniffed", "a=b", type: "text/plain").hasPrefix("400 "))
    }
}
