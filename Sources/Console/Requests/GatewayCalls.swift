import Basics
import Crypto
import HTTPTypes
import Proto
import RPC
import ThreadCalls
import Wire

/// What came of a call.
enum CallOutcome<Answer> {
    case answered(Answer)
    /// The response that tells the browser of the refusal.
    case refused(HTTPResponse)
}

/// The gateway's calls, as the console makes them for a browser.
struct GatewayCalls: Sendable {
    /// Takes the calls of browsers, which are Connect's, and backups.
    let handler: any HTTPRequestHandler
    /// Takes the console's own.
    let local: LocalCalls

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
        switch handler.begin(head.forwarded(to: method, token)) {
        case .respond(let response): return .respond(response.securedForConsole)
        case .receive(let sink): return .receive(sink)
        }
    }

    /// Begins a backup, by its route over REST.
    ///
    /// - Returns: the gateway's response: the archive's bytes as they are made, or the failure in JSON.
    func backup(_ options: BackupOptions, _ token: Secret, for head: HTTPRequestHead) -> HTTPResponse {
        guard let route = BackupServiceMethods.routes.first else { return .refusal(.failure) }
        head.leaveLogToCall()
        let body = Array(#"{"withoutObjects":\#(options.withoutObjects)}"#.utf8)
        switch handler.begin(head.forwarded(to: route.template.text, token, json: body)) {
        case .respond(let response):
            return response
        case .receive(let sink):
            body.withUnsafeBytes { sink.receive($0) }
            return sink.finish()
        }
    }

    private func unary<Response: Message, Answer>(
        _ method: MethodDescriptor, _ request: some Message, for head: HTTPRequestHead, read: (Response) -> Answer?
    ) -> CallOutcome<Answer> {
        do throws(RPCError) {
            let response: Response = try local.unary(method, request, for: head.caller(nil))
            return read(response).map { .answered($0) } ?? .refused(.refusal(.failure))
        } catch {
            return .refused(error.httpResponse.securedForConsole)
        }
    }
}

extension HTTPRequestHead {
    /// Fields of the browser's request that the call has, too: nothing of the session goes on.
    private static let kept: Set<String> = ["x-organization", "x-forwarded-for", "traceparent"]
    /// The fields of a browser's own call that concern Connect.
    private static let keptOfConnect: Set<String> = ["connect-protocol-version", "connect-timeout-ms"]

    /// The call has a line in the log, under the request's name: one is enough.
    fileprivate func leaveLogToCall() { notes.isCall = true }

    /// The browser's call, as it goes on.
    ///
    /// - Parameter json: the body, where it is not the browser's own.
    fileprivate func forwarded(to path: String, _ token: Secret, json: [UInt8]? = nil) -> HTTPRequestHead {
        let type = json == nil ? self.fields["content-type"] ?? "" : "application/json"
        var fields: HTTPFields = ["host": self.fields["host"] ?? "", "content-type": type]
        for (name, value) in callFields(Self.kept.union(Self.keptOfConnect), token) { fields.append(name, value) }
        return HTTPRequestHead(
            method: "POST", target: path, fields: fields, framing: json.map { .length(Int64($0.count)) } ?? framing,
            origin: origin)
    }

    /// The sender of this request as the caller of a call that the console makes.
    fileprivate func caller(_ token: Secret?) -> LocalCalls.Caller {
        LocalCalls.Caller(peer: peer, fields: callFields(Self.kept, token), socket: socket)
    }

    private func callFields(_ kept: Set<String>, _ token: Secret?) -> [(name: String, value: String)] {
        var fields = [(name: "x-request-id", value: requestID)]
        for field in self.fields.fields where kept.contains(field.name) { fields.append((field.name, field.value)) }
        if let token { fields.append(("authorization", "Bearer \(token.exposedText)")) }
        return fields
    }
}
