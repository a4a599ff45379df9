import Basics
import HTTPTypes
import Proto

/// The requests of the sign-in page that concern identity providers.
///
/// The browser is sent to the provider and returns to a page of the console, whose script sends the provider's code on. The secret
/// of the sign-in is in a cookie meanwhile, so that only the browser that began a sign-in can complete it.
struct ProviderSignIns: Sendable {
    /// The part of the paths after `/console/`.
    static let path = "sso"
    private static let callback = "\(path)/callback"

    let calls: GatewayCalls
    let clock: any WallClock
    /// The console's URL for browsers, without a slash at its end; `nil` = the one by which the browser reached it.
    let publicURL: String?
    /// Whether the web listener uses TLS.
    let isSecure: Bool

    /// - Parameters:
    ///   - name: the path after `/console/`.
    ///   - complete: opens a session for the result of a sign-in.
    /// - Returns: `nil` if the path is not about providers.
    func begin(
        _ name: Substring, _ head: HTTPRequestHead,
        complete: @escaping (CallOutcome<(user: User, tokens: UserTokens)>) -> HTTPResponse
    ) -> HTTPDisposition? {
        switch (name, head.method) {
        case (Substring(Self.path), "GET"):
            guard head.isSameOrigin else { return .refuse(.crossSite) }
            return .respond(providers(head))
        case (Substring(Self.callback), "GET"):
            return Asset.named("").map { .respond($0.response) }
        case (Substring(Self.callback), "POST"):
            guard head.isSameOrigin else { return .refuse(.crossSite) }
            guard let secret = head.cookie(SignInCookie.name) else { return .refuse(.signInElsewhere) }
            return .receive(
                SmallBody { [calls, clock] body in
                    guard let redirect = ProviderRedirect(json: body) else {
                        return .refusal(.malformed(ProviderRedirect.form))
                    }
                    var response = complete(calls.complete(redirect, secret: secret, for: head, at: clock.now()))
                    response.fields.append("Set-Cookie", SignInCookie.removal)
                    return response
                })
        case (Substring(Self.path), _):
            return .refuse(.method("GET"))
        case (Substring(Self.callback), _):
            return .refuse(.method("GET, POST"))
        default:
            guard name.hasPrefix("\(Self.path)/") else { return nil }
            guard head.method == "POST" else { return .refuse(.method("POST")) }
            guard head.isSameOrigin else { return .refuse(.crossSite) }
            return .respond(start(String(name.dropFirst(Self.path.count + 1)), head))
        }
    }

    private func providers(_ head: HTTPRequestHead) -> HTTPResponse {
        switch calls.providers(for: head) {
        case .refused(let response): response
        case .answered(let providers):
            .console(
                json: providers.filter(\.hasBrowserSignIn).map { SignInProvider(name: $0.name, title: $0.title) })
        }
    }

    private func start(_ provider: String, _ head: HTTPRequestHead) -> HTTPResponse {
        let redirect = "\(base(head))/console/\(Self.callback)"
        switch calls.beginSignIn(provider, redirectURI: redirect, for: head) {
        case .refused(let response): return response
        case .answered(let begun):
            var response = HTTPResponse.console(json: SignInAddress(url: begun.authorizationURL))
            response.fields.append("Set-Cookie", SignInCookie.set(begun.flowSecret))
            return response
        }
    }

    /// The URL by which the browser reaches the console: that of its own machine if it is there, else the public one.
    private func base(_ head: HTTPRequestHead) -> String {
        let authority = head.fields["host"] ?? ""
        let isLocal = ["127.0.0.1", "localhost", "[::1]"].contains {
            authority == $0 || authority.hasPrefix("\($0):")
        }
        let own = "\(isSecure ? "https" : "http")://\(authority)"
        return isLocal ? own : publicURL ?? own
    }
}

/// A provider for a button of the sign-in page.
private struct SignInProvider: Encodable {
    let name: String
    let title: String
}

/// The address at the provider.
private struct SignInAddress: Encodable {
    let url: String
}

/// The cookie with the secret of a sign-in at a provider, for the 10 minutes that it may take. Like the session's, it is for this
/// host only and not readable by scripts; the page that the provider sends the browser to sends it.
enum SignInCookie {
    static let name = "__Host-console-sign-in"

    static func set(_ value: String) -> String { "\(name)=\(value); Max-Age=600; \(attributes)" }

    static let removal = "\(name)=; Max-Age=0; \(attributes)"

    private static let attributes = "Path=/; Secure; HttpOnly; SameSite=Strict"
}

extension GatewayCalls {
    func providers(for head: HTTPRequestHead) -> CallOutcome<[IdentityProviderInfo]> {
        unary(IdentityServiceMethods.listProviders, ListProvidersRequest(), for: head.caller()) {
            (response: ListProvidersResponse) in response.providers
        }
    }

    func beginSignIn(
        _ provider: String, redirectURI: String, for head: HTTPRequestHead
    ) -> CallOutcome<BeginSignInResponse> {
        let request = BeginSignInRequest(provider: provider, redirectURI: redirectURI)
        return unary(IdentityServiceMethods.beginSignIn, request, for: head.caller()) {
            (response: BeginSignInResponse) in
            response
        }
    }

    func complete(
        _ redirect: ProviderRedirect, secret: String, for head: HTTPRequestHead, at now: UnixTime
    ) -> CallOutcome<(user: User, tokens: UserTokens)> {
        let request = CompleteSignInRequest(
            code: redirect.code, state: redirect.state, flowSecret: secret, issuer: redirect.issuer ?? "")
        return unary(IdentityServiceMethods.completeSignIn, request, for: head.caller()) { (response: LoginResponse) in
            response.user.map { ($0, UserTokens(response, at: now)) }
        }
    }
}
