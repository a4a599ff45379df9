import Basics
import CommandLineInterface
import FoundationEssentials
import Glibc
import HTTPServer
import HTTPTypes
import Proto
import Synchronization

/// The sign-ins of `login` without a password.
struct ProviderLogin {
    let service: IdentityServiceClient<GatewayConnection>
    let environment: CommandEnvironment

    /// Signs a person in with a browser on this machine.
    func signIn(at provider: String) async throws -> LoginResponse {
        let redirect = LoopbackRedirect()
        return try await redirect.serve { address in
            let begun = try await service.beginSignIn(BeginSignInRequest(provider: provider, redirectURI: address))
            let query = URLComponents(webAddress: begun.authorizationURL)?.queryItems
            guard let state = query?.first(where: { $0.name == "state" })?.value else {
                throw ClientFailure("the gateway's reply has no address of the identity provider")
            }
            environment.errorOutput("Open this address in a browser on this machine and sign in:\n\n")
            environment.errorOutput("\(TextLayout.printable(begun.authorizationURL))\n")
            let sent = try await redirect.parameters(for: state)
            return try await service.completeSignIn(
                CompleteSignInRequest(
                    code: sent.code, state: state, flowSecret: begun.flowSecret, issuer: sent.issuer))
        }
    }

    /// Exchanges a workload's token.
    ///
    /// - Parameter path: the token's file; `-` = standard input.
    func exchange(tokenIn path: String) async throws -> ExchangeWorkloadTokenResponse {
        let text: String
        if path == "-" {
            text = readLine() ?? ""
        } else {
            do {
                text = String(decoding: try PrivateFile.contents(of: path), as: UTF8.self)
            } catch {
                throw ClientFailure("cannot read the identity token: \(error)", exitCode: .usage)
            }
        }
        let token = text.trimmingSpacesAndLineEnds()
        guard !token.isEmpty else {
            throw ClientFailure(
                "\(path == "-" ? "standard input" : path) does not have an identity token", exitCode: .usage)
        }
        return try await service.exchangeWorkloadToken(ExchangeWorkloadTokenRequest(identityToken: token))
    }
}

/// The page on this machine to which an identity provider sends the browser at the end of a sign-in (RFC 8252, section 7.3).
final class LoopbackRedirect: HTTPRequestHandler {
    private static let path = "/callback"
    /// The time for a sign-in at the provider; the gateway does not accept later ones.
    static let timeout = Duration.minutes(10)

    /// The parameters of the redirect.
    struct Parameters: Sendable {
        let code: String
        /// The provider's name for itself; empty if it sent none.
        let issuer: String
    }

    private let state = Lock<String?>(nil)
    private let outcomes: AsyncStream<Result<Parameters, ClientFailure>>
    private let outcome: AsyncStream<Result<Parameters, ClientFailure>>.Continuation

    init() {
        (outcomes, outcome) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// Runs `body` while the page is served.
    ///
    /// - Parameter body: is given the page's address.
    func serve<Result>(_ body: (_ address: String) async throws -> Result) async throws -> Result {
        let daemon: HTTPDaemon
        do {
            daemon = try HTTPDaemon(host: "127.0.0.1", port: 0, handler: self)
        } catch {
            throw ClientFailure("cannot wait for the browser on a loopback address: \(error)")
        }
        defer { daemon.stop(drainingFor: .seconds(1)) }
        return try await body("http://127.0.0.1:\(daemon.port)\(Self.path)")
    }

    /// Waits for the browser.
    ///
    /// - Parameter state: the parameter by which the redirect of this sign-in is recognized.
    func parameters(for state: String) async throws(ClientFailure) -> Parameters {
        self.state.withLock { $0 = state }
        let timer = Task { [outcome] in
            try await Task.sleep(for: Self.timeout)
            outcome.yield(
                .failure(ClientFailure("the browser did not come back within 10 minutes: run the command again")))
        }
        defer { timer.cancel() }
        for await outcome in outcomes { return try outcome.get() }
        throw ClientFailure("the sign-in was canceled")
    }

    func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
        guard head.method == "GET", let parts = URLComponents(webAddress: "http://127.0.0.1\(head.target)"),
            parts.path == Self.path
        else { return .respond(Self.page(404, "This address has no page.")) }
        let items = Dictionary((parts.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { first, _ in first }
        // Any page of the browser could call this one.
        guard let expected = state.withLock({ $0 }), items["state"] == expected else {
            return .respond(Self.page(400, "This sign-in was begun elsewhere."))
        }
        guard let code = items["code"], !code.isEmpty else {
            let reason = [items["error"], items["error_description"]].compactMap { $0 }.joined(separator: ": ")
            outcome.yield(.failure(ClientFailure("the identity provider refused the sign-in: \(reason)")))
            return .respond(Self.page(200, "The identity provider refused the sign-in. You can close this window."))
        }
        outcome.yield(.success(Parameters(code: code, issuer: items["iss"] ?? "")))
        return .respond(Self.page(200, "Return to the terminal. You can close this window."))
    }

    private static func page(_ status: Int, _ text: String) -> HTTPResponse {
        let fields: HTTPFields = [
            "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store",
            "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Referrer-Policy": "no-referrer",
        ]
        let page = "<!doctype html><title>data-gateway</title><p>\(text)</p>\n"
        return HTTPResponse(status: status, fields: fields, body: .bytes(Array(page.utf8)))
    }
}
