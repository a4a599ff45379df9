import Basics
import Crypto
package import HTTPTypes
import Proto
import RPC
package import ThreadCalls
import Wire

/// The outcome of a call.
enum CallOutcome<Value> {
    case answered(Value)
    /// The response that reports the refusal to the browser.
    case refused(HTTPResponse)
}

/// The calls of the gateway's API that the console makes or passes on for a browser.
struct GatewayCalls: Sendable {
    /// Handles the calls of browsers, which use the Connect protocol, and backups.
    let handler: any HTTPRequestHandler
    /// Handles the console's own calls.
    let local: LocalCalls

    func signIn(
        _ credentials: SignIn, for head: HTTPRequestHead, at now: UnixTime
    ) -> CallOutcome<(user: User, tokens: UserTokens)> {
        switch credentials {
        case .password(let given):
            let request = LoginRequest(
                organization: given.organization, userName: given.userName, password: given.password)
            return unary(AuthServiceMethods.login, request, for: head.caller()) { (response: LoginResponse) in
                response.user.map { ($0, UserTokens(response, at: now)) }
            }
        case .secondFactor(let given):
            let request = CompleteLoginRequest(challenge: given.challenge, code: given.code)
            return unary(SessionServiceMethods.completeLogin, request, for: head.caller()) {
                (response: CompleteLoginResponse) in
                response.user.map { ($0, UserTokens(response, at: now)) }
            }
        }
    }

    func refresh(_ token: Secret, for head: HTTPRequestHead, at now: UnixTime) -> CallOutcome<UserTokens> {
        let request = RefreshTokenRequest(refreshToken: token.exposedText)
        return unary(AuthServiceMethods.refreshToken, request, for: head.caller()) { (response: RefreshTokenResponse) in
            UserTokens(response, at: now)
        }
    }

    func signOut(_ token: Secret, for head: HTTPRequestHead) {
        let request = LogoutRequest(refreshToken: token.exposedText)
        _ = unary(SessionServiceMethods.logout, request, for: head.caller()) { (response: LogoutResponse) in response }
    }

    /// Passes a browser's call on.
    ///
    /// - Parameter method: its path.
    func forward(_ method: String, _ token: Secret, _ head: HTTPRequestHead) -> HTTPDisposition {
        head.leaveLogToCall()
        switch handler.begin(head.forwarded(to: method, token)) {
        case .respond(let response): return .respond(response.securedForConsole)
        case .receive(let sink): return .receive(sink)
        }
    }

    /// Starts a call that sends a file, by its REST route with a body.
    ///
    /// - Parameters:
    ///   - json: the body.
    ///   - organization: the organization for which a system administrator acts; `nil` = the user's own.
    /// - Returns: the gateway's response: the file's bytes while they are made, or the error in JSON.
    func stream(
        _ route: HTTPRoute, _ json: [UInt8], _ token: Secret, for head: HTTPRequestHead, in organization: String?
    ) -> HTTPResponse {
        head.leaveLogToCall()
        switch handler.begin(head.forwarded(to: route.template.text, token, json: json, organization: organization)) {
        case .respond(let response):
            return response
        case .receive(let sink):
            json.withUnsafeBytes { sink.receive($0) }
            return sink.finish()
        }
    }

    /// Starts a call that receives a file, by its REST route whose body the file is.
    ///
    /// - Parameter path: the route's path.
    func receive(_ path: String, _ token: Secret, for head: HTTPRequestHead) -> HTTPDisposition {
        head.leaveLogToCall()
        return handler.begin(head.forwarded(to: path, token))
    }

    /// Requests a presigned URL of an object, for showing it to the user.
    func presign(
        _ fileID: String, seconds: Int64, _ token: Secret, for head: HTTPRequestHead, in organization: String?
    ) -> CallOutcome<StoreAddress> {
        let request = RequestDownloadRequest(fileIDs: [fileID], lifetimeSeconds: seconds, purpose: .view)
        let caller = head.caller(token, in: organization)
        return unary(DataGatewayObjectServiceMethods.requestDownload, request, for: caller) {
            (response: RequestDownloadResponse) in
            (response.files.first?.read?.uri).flatMap { StoreAddress(url: $0) }
        }
    }

    func unary<Response: Message, Value>(
        _ method: MethodDescriptor, _ request: some Message, for caller: LocalCalls.Caller,
        read: (Response) -> Value?
    ) -> CallOutcome<Value> {
        do throws(RPCError) {
            let response: Response = try local.unary(method, request, for: caller)
            return read(response).map { .answered($0) } ?? .refused(.refusal(.failure))
        } catch {
            return .refused(error.httpResponse.securedForConsole)
        }
    }
}

extension HTTPRequestHead {
    /// The header fields of the browser's request that are passed on with the call; none of them belongs to the session.
    private static let kept: Set<String> = ["x-organization", "x-forwarded-for", "traceparent"]
    /// The header fields of the Connect protocol, which are passed on with a browser's own call.
    private static let keptOfConnect: Set<String> = ["connect-protocol-version", "connect-timeout-ms"]

    /// Leaves the log line to the call, which is logged under the request's name.
    fileprivate func leaveLogToCall() { notes.isCall = true }

    /// Returns the browser's call as it is passed on: with its own method, or as POST with a body of the console.
    ///
    /// - Parameters:
    ///   - json: the body if it is not the browser's own.
    ///   - organization: the organization of the call, if the browser's request does not contain it.
    fileprivate func forwarded(
        to path: String, _ token: Secret, json: [UInt8]? = nil, organization: String? = nil
    ) -> HTTPRequestHead {
        let type = json == nil ? self.fields["content-type"] ?? "" : "application/json"
        var fields: HTTPFields = ["host": self.fields["host"] ?? "", "content-type": type]
        for (name, value) in callFields(Self.kept.union(Self.keptOfConnect), token) { fields.append(name, value) }
        if let organization { fields.append("x-organization", organization) }
        return HTTPRequestHead(
            method: json == nil ? method : "POST", target: path, fields: fields,
            framing: json.map { .length(Int64($0.count)) } ?? framing,
            origin: origin)
    }

    /// Returns the sender of this request as the caller of a call that the console makes.
    ///
    /// - Parameter organization: the organization of the call, if the browser's request does not contain it.
    func caller(_ token: Secret? = nil, in organization: String? = nil) -> LocalCalls.Caller {
        var fields = callFields(
            Self.kept.union(["user-agent"]).subtracting(organization == nil ? [] : ["x-organization"]), token)
        if let organization { fields.append((name: "x-organization", value: organization)) }
        return LocalCalls.Caller(peer: peer, fields: fields, socket: socket)
    }

    private func callFields(_ kept: Set<String>, _ token: Secret?) -> [(name: String, value: String)] {
        var fields = [(name: "x-request-id", value: requestID)]
        for field in self.fields.fields where kept.contains(field.name) { fields.append((field.name, field.value)) }
        if let token { fields.append(("authorization", "Bearer \(token.exposedText)")) }
        return fields
    }
}

/// The parts of the gateway that the console uses.
package struct GatewayHandlers: Sendable {
    /// Handles the browsers' calls, as the web listener does.
    let calls: any HTTPRequestHandler
    /// Handles the console's own calls of the same methods.
    let local: LocalCalls
    /// The object store's handler, which reads objects for previews.
    let store: any HTTPRequestHandler

    package init(calls: any HTTPRequestHandler, local: LocalCalls, store: any HTTPRequestHandler) {
        self.calls = calls
        self.local = local
        self.store = store
    }
}

/// The body of a browser's call that is passed to the gateway; the response is returned as the console's.
final class ForwardedCall: HTTPBodySink {
    private let call: any HTTPBodySink
    private let refused: () -> Void

    /// - Parameter refused: called if the gateway no longer accepts the session's token: the user's password or role was changed,
    ///   or the user was deleted.
    init(_ call: any HTTPBodySink, refused: @escaping () -> Void) {
        self.call = call
        self.refused = refused
    }

    func receive(_ bytes: UnsafeRawBufferPointer) { call.receive(bytes) }

    var isAnswered: Bool { call.isAnswered }

    func finish() -> HTTPResponse {
        let response = call.finish()
        if response.status == 401 { refused() }
        return response.securedForConsole
    }

    func abandon() { call.abandon() }
}

/// The address of a signed request to the object store.
struct StoreAddress: Sendable {
    /// The target of the request; of a presigned one, with its signature.
    let target: String
    /// The value of the field `Host`.
    let host: String

    /// - Parameter url: the request's URL.
    init?(url: String) {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        let rest = url[scheme.upperBound...]
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        host = String(rest[..<slash])
        target = String(rest[slash...])
    }
}
