import Basics
import Crypto
import EventLoops
import Foundation
import GatewayTesting
import HTTPTypes
import Proto
import RPC
import Synchronization
import TestSupport
import Testing
import ThreadCalls
import Wire

@testable import Console

/// A substitute for the gateway: serves a browser's calls like the web listener, and the console's own calls like its methods, and
/// records them.
private final class FakeGateway: HTTPRequestHandler {
    struct Seen {
        let target: String
        let fields: HTTPFields
        let body: [UInt8]
    }

    private final class Sink: HTTPBodySink {
        private var body: [UInt8] = []
        private let response: ([UInt8]) -> HTTPResponse

        init(_ response: @escaping ([UInt8]) -> HTTPResponse) { self.response = response }

        func receive(_ bytes: UnsafeRawBufferPointer) { body += bytes }
        func finish() -> HTTPResponse { response(body) }
        func abandon() {}
    }

    /// The state that the methods share with the test.
    private final class State: Sendable {
        let calls = Lock<[Seen]>([])
        let refusal = Lock<RPCError?>(nil)
        let login = Lock(LoginResponse())
    }

    let local: LocalCalls
    private let loop = EventLoop(name: "loop")
    private let state: State
    private let status = Lock(200)
    private let body = Lock("{}")

    /// - Parameter world: signs users in.
    init(_ world: TestAccounts) {
        let state = State()
        let note = { @Sendable (context: CallContext, request: any Message) in
            var fields: HTTPFields = ["x-peer": context.peer.host, "x-request-id": context.requestID.description]
            for (name, value) in context.metadata.pairs { fields.append(name, value) }
            let seen = Seen(target: context.method.path, fields: fields, body: request.encoded())
            state.calls.withLock { $0.append(seen) }
        }
        var router = Router()
        router.add(AuthServiceMethods.login) { (request: LoginRequest, context) in
            note(context, request)
            if let refusal = state.refusal.withLock({ $0 }) { throw refusal }
            let login = try await world.login()
            state.login.withLock { $0 = login }
            return login
        }
        router.add(SessionServiceMethods.completeLogin) { (request: CompleteLoginRequest, context) in
            note(context, request)
            let login = try await world.login()
            return CompleteLoginResponse(
                accessToken: login.accessToken, accessTokenExpiresAtUnix: login.accessTokenExpiresAtUnix,
                refreshToken: login.refreshToken, user: login.user)
        }
        router.add(SessionServiceMethods.logout) { (request: LogoutRequest, context) in
            note(context, request)
            return LogoutResponse()
        }
        local = LocalCalls(server: RPCServer(router: router), loops: [loop])
        self.state = state
    }

    deinit {
        loop.stop()
    }

    var seen: [Seen] { state.calls.withLock { $0 } }

    /// The response to the last sign-in.
    var login: LoginResponse { state.login.withLock { $0 } }

    /// Sets the response to a browser's calls.
    func respond(status: Int, _ body: String = "{}") {
        self.status.withLock { $0 = status }
        self.body.withLock { $0 = body }
    }

    func refuseSignIn(with error: RPCError) { state.refusal.withLock { $0 = error } }

    func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
        .receive(
            Sink { [self] body in
                state.calls.withLock { $0.append(Seen(target: head.target, fields: head.fields, body: body)) }
                return HTTPResponse(status: status.withLock { $0 }, body: .bytes(Array(self.body.withLock { $0 }.utf8)))
            })
    }
}

@Suite(.timeLimited) struct ConsoleTests {
    private let calls: FakeGateway
    private let console: Console

    init() async throws {
        let world = try await TestAccounts(migrations: ConsoleSessions.migrations)
        calls = FakeGateway(world)
        console = Console(
            calls: GatewayHandlers(calls: calls, local: calls.local, store: calls),
            sessions: ConsoleSessions(world.environment, configuration: ConsoleConfiguration()),
            deviceEndpoints: ["auth": "here"], clock: world.clock, log: .discarding)
    }

    private func ask(
        _ method: String, _ target: String, _ fields: HTTPFields = ["sec-fetch-site": "same-origin"], body: String = ""
    ) -> HTTPResponse {
        let head = HTTPRequestHead(
            method: method, target: target, fields: fields,
            framing: body.isEmpty ? .none : .length(Int64(body.utf8.count)),
            origin: HTTPRequestOrigin(peer: "192.0.2.1"))
        switch console.begin(head) {
        case .respond(let response): return response
        case .receive(let sink):
            var body = body
            body.withUTF8 { sink.receive(UnsafeRawBufferPointer($0)) }
            return sink.finish()
        }
    }

    private func text(_ response: HTTPResponse) -> String {
        guard case .bytes(let bytes) = response.body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the header fields for calls from a page of a new session.
    private func signIn() throws -> HTTPFields {
        let response = ask(
            "POST", "/console/session", body: #"{"organization":"acme","userName":"vera","password":"a secret"}"#)
        try #require(response.status == 200, "\(text(response))")
        let cookie = try #require(response.fields["set-cookie"]?.prefix { $0 != ";" })
        let description = try JSONSerialization.jsonObject(with: Data(text(response).utf8)) as? [String: Any]
        let token = try #require(description?["token"] as? String)
        return ["sec-fetch-site": "same-origin", "cookie": "other=1; \(cookie)", "x-console-token": token]
    }

    private func changed(_ fields: HTTPFields, _ name: String, to value: String?) -> HTTPFields {
        var changed = HTTPFields()
        for field in fields.fields where field.name != name { changed.append(field.name, field.value) }
        if let value { changed.append(name, value) }
        return changed
    }

    @Test func theCookieIsForThisHostAndForNoScript() throws {
        let response = ask("POST", "/console/session", body: #"{"organization":"a","userName":"b","password":"c"}"#)
        let cookie = try #require(response.fields["set-cookie"])
        #expect(cookie.wholeMatch(of: /__Host-console=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict/) != nil)
    }

    @Test func sessionResponseHoldsNoTokenOfTheGateway() throws {
        let fields = try signIn()
        let response = ask("GET", "/console/session", fields)
        #expect(
            text(response)
                == #"{"deviceEndpoints":{"auth":"here"},"idleSecondsLeft":1800,"secondsLeft":43200,"#
                + #""user":{"organization":"system","role":"admin","userName":"admin"}}"#
        )
    }

    @Test func aCallGoesOnUnderTheSessionsToken() throws {
        var fields = try signIn()
        fields.append("content-type", "application/json")
        fields.append("x-organization", "other")
        fields.append("authorization", "Bearer forged")
        #expect(ask("POST", "/console/rpc/some.Service/Method", fields, body: "{}").status == 200)
        let call = try #require(calls.seen.last)
        #expect(call.target == "/some.Service/Method")
        #expect(call.body == Array("{}".utf8))
        #expect(call.fields.values(of: "authorization") == ["Bearer \(calls.login.accessToken)"])
        #expect(call.fields["x-organization"] == "other")
        #expect(call.fields["cookie"] == nil)
        #expect(call.fields["x-console-token"] == nil)
    }

    @Test func aCallHasTheRequestsNameAndTrace() throws {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        var fields = try signIn()
        fields.append("x-request-id", "the-name")
        fields.append("traceparent", trace)
        #expect(ask("POST", "/console/rpc/some.Service/Method", fields, body: "{}").status == 200)
        let call = try #require(calls.seen.last)
        #expect(call.fields.values(of: "x-request-id") == ["the-name"])
        #expect(call.fields.values(of: "traceparent") == [trace])
    }

    @Test func theConsolesOwnCallIsMadeInTheNameOfTheBrowser() throws {
        let fields: HTTPFields = [
            "sec-fetch-site": "same-origin", "x-request-id": "the-name", "x-forwarded-for": "198.51.100.7",
            "cookie": "other=1",
        ]
        #expect(
            ask("POST", "/console/session", fields, body: #"{"organization":"a","userName":"b","password":"c"}"#).status
                == 200)
        let call = try #require(calls.seen.last)
        #expect(call.target == AuthServiceMethods.login.path)
        #expect(call.fields["x-peer"] == "192.0.2.1")
        #expect(call.fields["x-request-id"] == "the-name")
        #expect(call.fields["x-forwarded-for"] == "198.51.100.7")
        #expect(call.fields["cookie"] == nil)
        #expect(call.fields["authorization"] == nil)
    }

    @Test func anAddressOfABackupIsGoodOnceAndKeepsItsTicketInTheQuery() throws {
        let fields = try signIn()
        let response = text(ask("POST", "/console/backups", fields, body: #"{"withoutObjects":true}"#))
        let offer = try JSONSerialization.jsonObject(with: Data(response.utf8)) as? [String: String]
        let target = try #require(offer?["path"])
        #expect(target.wholeMatch(of: /\/console\/backups\?ticket=[\w-]{43}/) != nil)
        let navigation = changed(fields, "x-console-token", to: nil)
        #expect(ask("GET", target, changed(navigation, "cookie", to: nil)).status == 401)
        #expect(ask("GET", "/console/backups?ticket=guessed", navigation).status == 404)
        #expect(ask("GET", "/console/backups", navigation).status == 404)
        let before = calls.seen.count
        calls.respond(status: 400, #"{"error":{"message":"another backup is running"}}"#)
        let refused = ask("GET", target, navigation)
        #expect(refused.status == 409)
        #expect(text(refused) == "another backup is running\n")
        #expect(calls.seen.last?.fields["authorization"] == "Bearer \(calls.login.accessToken)")
        #expect(calls.seen.dropFirst(before).map(\.target) == ["/v1/backup"])
        #expect(calls.seen.last.map { String(decoding: $0.body, as: UTF8.self) } == #"{"withoutObjects":true}"#)
        #expect(calls.seen.last?.fields["content-type"] == "application/json")
        #expect(ask("GET", target, navigation).status == 404)
        #expect(calls.seen.count == before + 1)
    }

    @Test func newSignInEndsTheEarlierSession() throws {
        let fields = try signIn()
        let cookie = try #require(fields["cookie"])
        let response = ask(
            "POST", "/console/session", ["sec-fetch-site": "same-origin", "cookie": cookie],
            body: #"{"organization":"acme","userName":"vera","password":"a secret"}"#)
        #expect(response.status == 200)
        #expect(calls.seen.last?.target == SessionServiceMethods.logout.path)
        #expect(ask("GET", "/console/session", fields).status == 401)
    }

    @Test(arguments: [
        ("sec-fetch-site", nil, 403), ("sec-fetch-site", "same-site", 403), ("sec-fetch-site", "cross-site", 403),
        ("sec-fetch-site", "none", 403), ("x-console-token", nil, 403), ("x-console-token", "guessed", 403),
        ("cookie", nil, 401), ("cookie", "__Host-console=guessed", 401), ("cookie", "__Host-console=", 401),
    ])
    func forgedRequestIsRefusedWithoutACall(_ field: String, _ value: String?, _ status: Int) throws {
        let fields = changed(try signIn(), field, to: value)
        let before = calls.seen.count
        for (method, target) in [
            ("POST", "/console/rpc/some.Service/Method"), ("GET", "/console/session"), ("DELETE", "/console/session"),
            ("POST", "/console/backups"),
        ] {
            #expect(ask(method, target, fields, body: method == "POST" ? "{}" : "").status == status, "\(target)")
        }
        #expect(calls.seen.count == before)
    }

    @Test func twoCookiesOfTheNameAreNone() throws {
        let fields = try signIn()
        let doubled = changed(fields, "cookie", to: (fields["cookie"] ?? "") + "; __Host-console=planted")
        #expect(ask("GET", "/console/session", doubled).status == 401)
    }

    @Test func nobodyIsSignedInFromAnotherSite() {
        for site in ["cross-site", "same-site", "none"] {
            let response = ask(
                "POST", "/console/session", ["sec-fetch-site": site],
                body: #"{"organization":"a","userName":"b","password":"c"}"#)
            #expect(response.status == 403)
        }
        #expect(calls.seen.isEmpty)
    }

    @Test func refusedSignInPassesOnTheGatewaysAnswer() {
        calls.refuseSignIn(with: RPCError(bare: .unauthenticated, "wrong", retryAfterMilliseconds: 7))
        let response = ask("POST", "/console/session", body: #"{"organization":"a","userName":"b","password":"c"}"#)
        #expect(response.status == 401)
        #expect(text(response) == #"{"code":"unauthenticated","message":"wrong"}"#)
        #expect(response.fields["content-type"] == "application/json")
        #expect(response.fields["retry-after-ms"] == "7")
        #expect(response.fields["cache-control"] == "no-store")
        #expect(response.fields["set-cookie"] == nil)
    }

    @Test func secondStepOpensTheSession() throws {
        var error = RPCError(DetailCode("AUTH_SECOND_FACTOR_REQUIRED", .unauthenticated), "the code is needed")
        error.metadata["challenge"] = "dgwc_x"
        calls.refuseSignIn(with: error)
        let first = ask("POST", "/console/session", body: #"{"organization":"a","userName":"b","password":"c"}"#)
        #expect(first.status == 401)
        #expect(
            text(first).contains(
                #""debug":{"code":"AUTH_SECOND_FACTOR_REQUIRED","message":"the code is needed","challenge":"dgwc_x"}"#))
        let second = ask("POST", "/console/session", body: #"{"challenge":"dgwc_x","code":"123456"}"#)
        #expect(second.status == 200 && second.fields["set-cookie"] != nil)
        let call = try #require(calls.seen.last)
        #expect(call.target == SessionServiceMethods.completeLogin.path)
        #expect(
            try CompleteLoginRequest(decoding: call.body) == CompleteLoginRequest(challenge: "dgwc_x", code: "123456"))
    }

    @Test(arguments: ["", "{", "[]", #"{"organization":"a"}"#, String(repeating: " ", count: 20_000)])
    func malformedSignInIsRefused(_ body: String) {
        #expect(ask("POST", "/console/session", body: body).status == 400)
    }

    @Test func aSessionEndsWithItsUsersToken() throws {
        let fields = try signIn()
        calls.respond(status: 401)
        #expect(ask("POST", "/console/rpc/some.Service/Method", fields, body: "{}").status == 401)
        #expect(ask("GET", "/console/session", fields).status == 401)
    }

    @Test func signingOutEndsTheSessionAtTheGatewayToo() throws {
        let fields = try signIn()
        let response = ask("DELETE", "/console/session", fields)
        #expect(response.status == 204)
        #expect(response.fields["set-cookie"]?.hasPrefix("__Host-console=; Max-Age=0;") == true)
        let call = try #require(calls.seen.last)
        #expect(call.target == SessionServiceMethods.logout.path)
        #expect(try LogoutRequest(decoding: call.body).refreshToken == calls.login.refreshToken)
        #expect(ask("GET", "/console/session", fields).status == 401)
    }

    @Test(arguments: ["/console/", "/console/app.js", "/console/console.css", "/console/nothing", "/console/session"])
    func everyAnswerIsGuarded(_ target: String) {
        let fields = ask("GET", target).fields
        #expect(fields["content-security-policy"]?.hasPrefix("default-src 'none'; script-src 'self'") == true)
        #expect(fields["content-security-policy"]?.contains("unsafe") == false)
        #expect(fields["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
        #expect(fields["x-content-type-options"] == "nosniff")
        #expect(fields["cache-control"] == "no-store")
    }

    @Test func otherMethodsAndNamesAreRefused() {
        #expect(ask("GET", "/console").status == 308)
        #expect(ask("POST", "/console/app.js").status == 405)
        #expect(ask("PUT", "/console/session").status == 405)
        #expect(ask("GET", "/console/rpc/some.Service/Method").status == 405)
        #expect(ask("GET", "/console/../secret").status == 404)
        #expect(!Console.serves("/consoles"))
        #expect(Console.serves("/console?x"))
    }
}
