import Basics
import Crypto
import HTTPTypes
import Proto
import Wire

/// What came of a call.
enum CallOutcome<Answer> {
    case answered(Answer)
    /// As the browser is told so.
    case refused(HTTPResponse)
}

/// The gateway's calls, as the console makes them for a browser: by Connect, through the handler that takes everybody's.
struct GatewayCalls: Sendable {
    let handler: any HTTPRequestHandler

    func signIn(
        _ credentials: SignIn, for head: HTTPRequestHead, at now: UnixTime
    ) -> CallOutcome<(user: User, tokens: UserTokens)> {
        let request = LoginRequest(
            organization: credentials.organization, userName: credentials.userName, password: credentials.password)
        return unary(AuthServiceMethods.login, request, for: head) { (response: LoginResponse) in
            response.user.map { ($0, UserTokens(response, at: now)) }
        }
    }

    func refresh(_ token: Secret, for head: HTTPRequestHead, at now: UnixTime) -> CallOutcome<UserTokens> {
        let request = RefreshTokenRequest(refreshToken: token.exposedText)
        return unary(AuthServiceMethods.refreshToken, request, for: head) { (response: RefreshTokenResponse) in
            UserTokens(response, at: now)
        }
    }

    func signOut(_ token: Secret, for head: HTTPRequestHead) {
        let request = LogoutRequest(refreshToken: token.exposedText)
        _ = unary(SessionServiceMethods.logout, request, for: head) { (response: LogoutResponse) in response }
    }

    /// Passes a browser's own call on.
    ///
    /// - Parameter method: its path.
    func forward(_ method: String, _ token: Secret, _ head: HTTPRequestHead) -> HTTPDisposition {
        head.leaveLogToCall()
        let type = head.fields["content-type"] ?? ""
        switch handler.begin(head.call(method, type: type, token: token, framing: head.framing)) {
        case .respond(let response): return .respond(response.securedForConsole)
        case .receive(let sink): return .receive(sink)
        }
    }

    /// Calls a streaming method whose request is one message.
    func stream(
        _ method: MethodDescriptor, _ request: some Message, _ token: Secret, for head: HTTPRequestHead
    ) -> HTTPResponse {
        head.leaveLogToCall()
        var frame = request.encoded(reserving: MessagePrefix.byteCount)
        MessagePrefix.write(to: &frame)
        return response(of: head.call(method.path, type: "application/connect+proto", token: token, body: frame), frame)
    }

    private func unary<Request: Message, Response: Message, Answer>(
        _ method: MethodDescriptor, _ request: Request, for head: HTTPRequestHead, read: (Response) -> Answer?
    ) -> CallOutcome<Answer> {
        let body = request.encoded()
        let response = response(of: head.call(method.path, type: "application/proto", token: nil, body: body), body)
        guard response.status == 200 else { return .refused(response.securedForConsole) }
        guard let bytes = response.body.bytes, let message = try? Response(decoding: bytes), let answer = read(message)
        else { return .refused(.refusal(.failure)) }
        return .answered(answer)
    }

    private func response(of call: HTTPRequestHead, _ body: [UInt8]) -> HTTPResponse {
        switch handler.begin(call) {
        case .respond(let response): return response
        case .receive(let sink):
            body.withUnsafeBytes { sink.receive($0) }
            return sink.finish()
        }
    }
}

extension HTTPRequestHead {
    /// Fields of the browser's request that the call has, too: nothing of the session goes on.
    private static let kept: Set<String> = [
        "connect-protocol-version", "connect-timeout-ms", "x-organization", "x-forwarded-for", "traceparent",
    ]

    /// The call has a line in the log, under the request's name: one is enough.
    fileprivate func leaveLogToCall() { notes.isCall = true }

    /// A call for whoever sent this request.
    fileprivate func call(
        _ path: String, type: String, token: Secret?, framing: Framing
    ) -> HTTPRequestHead {
        var fields: HTTPFields = [
            "host": self.fields["host"] ?? "", "content-type": type, "x-request-id": requestID,
        ]
        for field in self.fields.fields where Self.kept.contains(field.name) { fields.append(field.name, field.value) }
        if let token { fields.append("authorization", "Bearer \(token.exposedText)") }
        return HTTPRequestHead(
            method: "POST", target: path, fields: fields, framing: framing, peer: peer, isSecure: isSecure,
            socket: socket)
    }

    fileprivate func call(_ path: String, type: String, token: Secret?, body: [UInt8]) -> HTTPRequestHead {
        call(path, type: type, token: token, framing: body.isEmpty ? .none : .length(Int64(body.count)))
    }
}

extension HTTPResponse.Body {
    /// All of it; `nil` where it breaks off, or is longer than an answer to the console's own calls.
    fileprivate var bytes: [UInt8]? {
        switch self {
        case .bytes(let bytes): return bytes
        case .file, .omitted: return nil
        case .stream(let stream):
            defer { stream.close() }
            var source = ByteSource(stream)
            return source.readToEnd(limit: 1 << 20)
        }
    }
}
