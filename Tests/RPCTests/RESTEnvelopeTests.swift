import Basics
import GatewayFormats
import Proto
import RPC
import TestSupport
import Testing
import Wire
import WireTesting

/// Tests the envelope of REST responses: one for each message in JSON, and none for other bodies.
@Suite(.timeLimited) struct RESTEnvelopeTests {
    private static let time = #""timestamp":"2026-01-01T00:00:00.000Z"}"#

    private let client: RawClient

    init() throws {
        var router = Router()
        router.add(MessagingMethods.getNamedMessage) { (request: GetNamedMessageRequest, _) in
            TextMessage(text: request.name)
        }
        router.add(MessagingMethods.listMessages) { (_: GetMessageRequest, _) in
            TextMessages(messages: [TextMessage(text: "a"), TextMessage(text: "b")])
        }
        router.add(MessagingMethods.getMessage) { (_: GetMessageRequest, _) -> TextMessage in
            throw RPCError(bare: .permissionDenied, "refused")
        }
        router.add(BodiesMethods.fetch) { (request: GetNamedMessageRequest, _) in
            HttpBody(contentType: "text/plain", data: Array(request.name.utf8))
        }
        router.add(BodiesMethods.watch) { (_: StreamRequest, responses: ResponseWriter<TextMessage>, _) in
            try await responses.write(TextMessage(text: "a"))
        }
        router.add(
            routes: TestFiles.routes.map { route in
                var route = route
                route.style.errors = .envelope
                return route
            })
        let json = JSONMapping(schema: try Schema(ProtoFiles.all + TestFiles.all))
        client = RawClient(
            RPCServer(
                router: router, limits: .small, errors: .gateway,
                web: WebProtocols(json: json, clock: ManualClock())))
    }

    private func call(_ method: String, _ path: String, more: [(String, String)] = []) throws -> RawClient.Stream {
        try client.call(
            changing: [":path": path, ":method": method, "te": nil, "content-type": nil], adding: more, body: [])
    }

    private func response(_ path: String) throws -> String {
        let reply = try call("GET", path)
        return "\(reply[":status"] ?? "") \(String(decoding: reply.body, as: UTF8.self))"
    }

    @Test func messageIsInAnEnvelope() throws {
        #expect(try response("/v1/named/a") == #"200 {"success":true,"data":{"text":"named/a"},"# + Self.time)
    }

    @Test func fieldThatIsTheBodyIsInAnEnvelope() throws {
        #expect(
            try response("/v1/messages") == #"200 {"success":true,"data":[{"text":"a"},{"text":"b"}],"# + Self.time)
    }

    @Test func errorsHaveTheirOwnEnvelope() throws {
        #expect(
            try response("/v1/messages/1")
                == #"403 {"success":false,"statusCode":403,"message":"refused","errorCode":"PERMISSION_DENIED"}"#)
        #expect(try response("/v1/none").hasPrefix(#"404 {"success":false,"statusCode":404,"message":""#))
        let method = try call("DELETE", "/v1/named/a")
        #expect(method[":status"] == "405")
        #expect(String(decoding: method.body, as: UTF8.self).hasSuffix(#""errorCode":"METHOD_NOT_ALLOWED"}"#))
    }

    @Test func otherBodiesAndStreamsHaveNoEnvelope() throws {
        #expect(try response("/v1/bodies/a") == "200 a")
        #expect(try response("/v1/bodies/a:watch") == #"200 {"result":{"text":"a"}}"# + "\n")
    }

    @Test func headHasTheLengthOfTheEnvelope() throws {
        let (get, head) = (try call("GET", "/v1/named/a"), try call("HEAD", "/v1/named/a"))
        #expect(head[":status"] == "200" && head.body.isEmpty)
        #expect(head["content-length"] == "\(get.body.count)" && !get.body.isEmpty)
    }
}
