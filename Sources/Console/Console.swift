package import Basics
import Crypto
package import HTTPTypes
import Proto
import RPC
import ThreadCalls

/// The console: the web pages of the gateway, below `/console/` of the web listener.
///
/// It is a client of the gateway's API and has no rules of its own. A browser signs in with a password and gets a session; its
/// calls are passed to the handlers of the web listener with that session's access token, which never leaves the gateway. So access
/// control, limits, deadlines, audit and metrics are the same as for every other client. The console's own calls use the same
/// methods within the process.
package struct Console: HTTPRequestHandler {
    let calls: GatewayCalls
    let sessions: ConsoleSessions
    private let providers: ProviderSignIns
    let clock: any WallClock
    private let log: Logger
    /// The object store's handler.
    let store: any HTTPRequestHandler
    private let deviceEndpoints: any Encodable & Sendable

    /// - Parameters:
    ///   - calls: the parts of the gateway that handle calls and requests of the console.
    ///   - sessions: the sessions of all browsers.
    ///   - deviceEndpoints: the gateway's endpoints for devices, as in `archebase-endpoints.json`; a page puts them into the
    ///     configuration of a device.
    package init(
        calls: GatewayHandlers, sessions: ConsoleSessions, deviceEndpoints: any Encodable & Sendable,
        clock: any WallClock, log: Logger
    ) {
        self.calls = GatewayCalls(handler: calls.calls, local: calls.local)
        self.sessions = sessions
        providers = ProviderSignIns(
            calls: self.calls, clock: clock, publicURL: sessions.configuration.publicURL,
            isSecure: sessions.configuration.isSecure)
        store = calls.store
        self.deviceEndpoints = deviceEndpoints
        self.clock = clock
        self.log = log
    }

    static let root = "/console/"

    /// Whether the console handles the request.
    package static func serves(_ target: String) -> Bool {
        target.hasPrefix(root) || target.prefix { $0 != "?" } == "/console"
    }

    package func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
        let path = head.target.prefix { $0 != "?" }
        guard path.hasPrefix(Self.root) else { return .respond(.console(308, ["Location": Self.root])) }
        let name = path.dropFirst(Self.root.count)
        if let asset = Asset.named(name) {
            guard ["GET", "HEAD"].contains(head.method) else { return .refuse(.method("GET, HEAD")) }
            return .respond(asset.response)
        }
        switch name {
        case "session": return beginOfSession(head)
        case "backups": return beginOfBackup(head)
        case "archives": return beginOfArchive(head)
        case "contents": return beginOfContent(head)
        default: return beginBelow(name, head)
        }
    }

    private func beginOfSession(_ head: HTTPRequestHead) -> HTTPDisposition {
        switch head.method {
        case "POST": beginSession(head)
        case "GET": withSession(of: head) { .respond(describe($0)) }
        case "DELETE": withSession(of: head) { .respond(endSession($0, head)) }
        default: .refuse(.method("GET, POST, DELETE"))
        }
    }

    private func beginOfBackup(_ head: HTTPRequestHead) -> HTTPDisposition {
        switch head.method {
        case "POST":
            withDocument(of: head) { (options: BackupOptions, session) in
                offer(.backup(options), at: "backups", in: session, for: head)
            }
        case "GET": .respond(download(head))
        default: .refuse(.method("GET, POST"))
        }
    }

    private func beginOfArchive(_ head: HTTPRequestHead) -> HTTPDisposition {
        switch head.method {
        case "POST":
            withDocument(of: head) { (options: ArchiveOptions, session) in
                offer(.archive(options), at: "archives", in: session, for: head)
            }
        case "GET": .respond(download(head))
        default: .refuse(.method("GET, POST"))
        }
    }

    private func beginOfContent(_ head: HTTPRequestHead) -> HTTPDisposition {
        switch head.method {
        case "POST":
            withDocument(of: head) { (request: ContentRequest, session) in
                openContent(request, in: session, for: head)
            }
        case "GET", "HEAD": content(head)
        default: .refuse(.method("GET, HEAD, POST"))
        }
    }

    /// Handles a request whose path names a provider, an upload, a staged archive or a method, in further components.
    private func beginBelow(_ name: Substring, _ head: HTTPRequestHead) -> HTTPDisposition {
        let opened = { (outcome: CallOutcome<(user: User, tokens: UserTokens)>) in open(outcome, head) }
        if let disposition = providers.begin(name, head, complete: opened) { return disposition }
        if let request = UploadRequest(name, head) {
            return withSession(of: head) { storeBytes(request, in: $0, for: head) }
        }
        if let id = Self.stagedArchive(name) {
            guard head.method == "PUT" else { return .refuse(.method("PUT")) }
            return withSession(of: head) { receiveArchive(id, in: $0, for: head) }
        }
        if name.hasPrefix("rpc/") {
            guard head.method == "POST" else { return .refuse(.method("POST")) }
            return withSession(of: head) { call(String(name.dropFirst("rpc".count)), in: $0, for: head) }
        }
        return .refuse(.notFound)
    }

    /// Receives a JSON document for a session, and refuses a body of another form.
    private func withDocument<Document: JSONDocument>(
        of head: HTTPRequestHead, respond: @escaping (Document, Session) -> HTTPResponse
    ) -> HTTPDisposition {
        withSession(of: head) { session in
            .receive(
                SmallBody(limit: Document.longest) { body in
                    guard let document = Document(json: body) else { return .refusal(.malformed(Document.form)) }
                    return respond(document, session)
                })
        }
    }

    /// Handles a request of a script of the console: it must carry the session's cookie and token, and come from a page of the
    /// console.
    private func withSession(
        of head: HTTPRequestHead, _ respond: (Session) -> HTTPDisposition
    ) -> HTTPDisposition {
        guard head.isSameOrigin else { return .refuse(.crossSite) }
        return reporting {
            let found = try sessions.session(cookie: head.sessionCookie, at: clock.now(), isActivity: head.isByPerson)
            guard let session = found else { return .refuse(.signedOut) }
            guard session.admits(token: head.sessionToken) else { return .refuse(.token) }
            return respond(session)
        } failure: {
            .refuse($0)
        }
    }

    /// Returns the session of a request that the browser makes for a page's element or link, which cannot send the token.
    func session(ofElement head: HTTPRequestHead, at now: UnixTime) -> CallOutcome<Session> {
        guard head.isSameOrigin else { return .refused(.refusal(.crossSite)) }
        return reporting {
            let found = try sessions.session(cookie: head.sessionCookie, at: now, isActivity: true)
            return found.map { .answered($0) } ?? .refused(.refusal(.signedOut))
        } failure: {
            .refused(.refusal($0))
        }
    }

    /// Runs work on the rows of sessions; writes an error to the log and refuses the request.
    func reporting<T>(_ work: () throws -> T, failure: (ConsoleRefusal) -> T) -> T {
        do {
            return try work()
        } catch {
            log.write("the console cannot use its sessions", ["error": "\(error)"], level: .error)
            return failure(.unavailable)
        }
    }
}

// MARK: Sessions

extension Console {
    private func beginSession(_ head: HTTPRequestHead) -> HTTPDisposition {
        // Otherwise another site could sign a browser in as a different user and observe the work of the browser's user.
        guard head.isSameOrigin else { return .refuse(.crossSite) }
        return .receive(
            SmallBody { body in
                guard let credentials = SignIn(json: body) else { return .refusal(.malformed(SignIn.form)) }
                return signIn(credentials, head)
            })
    }

    private func signIn(_ credentials: SignIn, _ head: HTTPRequestHead) -> HTTPResponse {
        open(calls.signIn(credentials, for: head, at: clock.now()), head)
    }

    /// Opens a session for the result of a sign-in.
    private func open(
        _ outcome: CallOutcome<(user: User, tokens: UserTokens)>, _ head: HTTPRequestHead
    ) -> HTTPResponse {
        let now = clock.now()
        switch outcome {
        case .refused(let response):
            return response
        case .answered(let (user, tokens)):
            let opened: ConsoleSessions.Opened
            do {
                if let before = try sessions.session(cookie: head.sessionCookie, at: now, isActivity: false) {
                    end(before, head)
                }
                guard let made = try sessions.open(for: user, tokens, at: now) else {
                    calls.signOut(tokens.refresh, for: head)
                    return .refusal(.tooManySessions)
                }
                opened = made
            } catch {
                log.write("the console cannot use its sessions", ["error": "\(error)"], level: .error)
                return .refusal(.unavailable)
            }
            var response = HTTPResponse.console(json: SessionGrant(token: opened.token))
            response.fields.append("Set-Cookie", SessionCookie.set(opened.cookie))
            return response
        }
    }

    private func describe(_ session: Session) -> HTTPResponse {
        .console(
            json: SessionDescription(
                session, deviceEndpoints: deviceEndpoints,
                remaining: session.remaining(sessions.configuration, at: clock.now())))
    }

    private func endSession(_ session: Session, _ head: HTTPRequestHead) -> HTTPResponse {
        end(session, head)
        return .console(204, ["Set-Cookie": SessionCookie.removal])
    }

    /// Revokes the session's tokens. The gateway's response to it does not matter to the browser.
    private func end(_ session: Session, _ head: HTTPRequestHead) {
        calls.signOut(session.refreshToken, for: head)
        end(session)
    }

    /// Ends a session whose tokens are no longer valid.
    func end(_ session: Session) {
        reporting {
            try sessions.end(session)
        } failure: { _ in
        }
    }
}

// MARK: Calls

extension Console {
    private func call(_ method: String, in session: Session, for head: HTTPRequestHead) -> HTTPDisposition {
        switch accessToken(of: session, for: head) {
        case .refused(let response):
            return .respond(response)
        case .answered(let token):
            switch calls.forward(method, token, head) {
            case .respond(let response): return .respond(response)
            case .receive(let sink):
                return .receive(ForwardedCall(sink) { end(session) })
            }
        }
    }

    /// Returns a valid access token of the session; a new one is requested if the current one expires soon.
    func accessToken(of session: Session, for head: HTTPRequestHead) -> CallOutcome<Secret> {
        let outcome = session.accessToken(at: clock.now()) { refreshToken, now in
            let outcome = calls.refresh(refreshToken, for: head, at: now)
            guard case .answered(let tokens) = outcome else { return outcome }
            // If they cannot be stored, the session continues until the process ends.
            reporting {
                try sessions.keep(tokens, of: session)
            } failure: { _ in
            }
            return outcome
        }
        if case .refused(let response) = outcome, response.status == 401 { end(session) }
        return outcome
    }
}
