import Basics
import Crypto
import Foundation
import GatewayAPI
import GatewayFormats
import GatewayTesting
import Proto
import RPC
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Identity

@Suite(.timeLimited) struct BrowserSignInTests {
    private func parameters(_ url: String) -> [String: String] {
        Dictionary((URLComponents(string: url)?.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { $1 }
    }

    /// Lets the provider answer the code with a token that has this nonce.
    private func response(_ identity: TestIdentity, nonce: String) {
        let token = identity.corpToken(["nonce": "\"\(nonce)\""])
        identity.transport.state.withLock {
            $0.response = (200, Array(#"{"access_token":"x","token_type":"Bearer","id_token":"\#(token)"}"#.utf8))
        }
    }

    @Test func codeIsExchangedWithTheProofKeyAndTheSecret() async throws {
        let identity = try await TestIdentity()
        let begun = try await identity.begin()
        #expect(begun.authorizationURL.hasPrefix("\(TestIssuer.url)/authorize?a=b&"))
        let query = parameters(begun.authorizationURL)
        #expect(query["response_type"] == "code")
        #expect(query["client_id"] == "gateway")
        #expect(query["redirect_uri"] == "http://127.0.0.1:1234/callback")
        #expect(query["scope"] == "openid")
        #expect(query["code_challenge_method"] == "S256")
        #expect(query["nonce"] == begun.nonce)
        response(identity, nonce: begun.nonce)
        let session = try await identity.complete("c o/d+e", state: query["state"] ?? "", secret: begun.flowSecret)
        #expect(session.user?.userName == "ada")
        let form = try #require(identity.transport.state.withLock { $0.posts.first })
        #expect(form["grant_type"] == "authorization_code")
        #expect(form["code"] == "c o/d+e")
        #expect(form["redirect_uri"] == "http://127.0.0.1:1234/callback")
        let verifier = try #require(form["code_verifier"])
        #expect(Base64.encodeURL(Digest.sha256(Array(verifier.utf8))) == query["code_challenge"])
        #expect(form["client_secret"] == nil)
        let basic = "Basic " + Base64.encode(Array("gateway:se%20cret".utf8))
        #expect(identity.transport.state.withLock { $0.authorizations.first } == basic)
        #expect(!begun.authorizationURL.contains(verifier))
    }

    @Test func secretIsInThePlaceThatProvidersReadAlike() async throws {
        let basic = "client_secret_basic", post = "client_secret_post"
        let escaped = "Basic " + Base64.encode(Array("gateway:se%20cret".utf8))
        let plain = "Basic " + Base64.encode(Array("gateway:se-cret".utf8))
        for (methods, secret, authorization) in [
            ([basic], "se cret", escaped), ([post], "se-cret", nil), (["private_key_jwt"], "se cret", escaped),
            // Some providers do not decode the Authorization field; they all decode the form.
            ([post, basic], "se cret", nil), ([basic, post], "se-cret", plain),
        ] {
            let identity = try await TestIdentity { providers in
                for index in providers.indices where providers[index].client != nil {
                    providers[index].client = .init(id: "gateway", secret: Secret(secret), scopes: ["openid"])
                }
            }
            let list = methods.map { "\"\($0)\"" }.joined(separator: ",")
            identity.transport.set(
                "\(TestIssuer.url)/.well-known/openid-configuration",
                Array(
                    """
                    {"issuer":"\(TestIssuer.url)","jwks_uri":"\(TestIssuer.url)/keys","token_endpoint":"\(TestIssuer.url)/token",\
                    "authorization_endpoint":"\(TestIssuer.url)/authorize","token_endpoint_auth_methods_supported":[\(list)]}
                    """.utf8))
            let begun = try await identity.begin()
            response(identity, nonce: begun.nonce)
            let state = parameters(begun.authorizationURL)["state"] ?? ""
            _ = try await identity.complete("code", state: state, secret: begun.flowSecret)
            let sent = identity.transport.state.withLock { ($0.posts.first, $0.authorizations.first ?? nil) }
            #expect(sent.1 == authorization)
            #expect(sent.0?["client_secret"] == (authorization == nil ? secret : nil))
        }
    }

    @Test func signInIsBoundToItsClientAndItsTime() async throws {
        let identity = try await TestIdentity()
        let (first, second) = (try await identity.begin(), try await identity.begin())
        let state = parameters(first.authorizationURL)["state"] ?? ""
        response(identity, nonce: first.nonce)
        for (state, secret) in [
            (state, second.flowSecret), (state, ""), ("", first.flowSecret), (state + "A", first.flowSecret),
            (String(state.dropLast(4)) + "AAAA", first.flowSecret),
        ] {
            let error = await refusal { _ = try await identity.complete("code", state: state, secret: secret) }
            #expect(error?.detail == .authInvalidCredential)
        }
        #expect(identity.transport.state.withLock { $0.posts.isEmpty })
        identity.world.clock.advance(seconds: 600)
        let late = await refusal {
            _ = try await identity.complete("code", state: state, secret: first.flowSecret)
        }
        #expect(late?.message == "this sign-in took too long: begin it again")
    }

    @Test func tokenOfAnotherSignInIsRefused() async throws {
        let identity = try await TestIdentity()
        let (first, second) = (try await identity.begin(), try await identity.begin())
        response(identity, nonce: second.nonce)
        let state = parameters(first.authorizationURL)["state"] ?? ""
        let error = await refusal {
            _ = try await identity.complete("code", state: state, secret: first.flowSecret)
        }
        #expect(error?.message == "the identity token is not valid: its nonce is not the one of this sign-in")
    }

    /// Changes the discovery document of `corp`.
    private func discover(_ identity: TestIdentity, _ changes: [String: String]) {
        let url = TestIssuer.url
        let members = [
            "issuer": "\"\(url)\"", "jwks_uri": "\"\(url)/keys\"", "token_endpoint": "\"\(url)/token\"",
            "authorization_endpoint": "\"\(url)/authorize\"",
        ].merging(changes) { $1 }
        let text = members.map { "\"\($0)\":\($1)" }.joined(separator: ",")
        identity.transport.set("\(url)/.well-known/openid-configuration", Array("{\(text)}".utf8))
    }

    @Test(arguments: [(false, ["", TestIssuer.url]), (true, [TestIssuer.url])])
    func redirectOfAnotherProviderIsRefused(_ namesIssuer: Bool, _ accepted: [String]) async throws {
        for issuer in ["", TestIssuer.url, TestIdentity.appleURL, TestIssuer.url + "/"] {
            let identity = try await TestIdentity()
            discover(identity, ["authorization_response_iss_parameter_supported": "\(namesIssuer)"])
            let begun = try await identity.begin()
            response(identity, nonce: begun.nonce)
            let state = parameters(begun.authorizationURL)["state"] ?? ""
            let error = await refusal {
                _ = try await identity.complete("code", state: state, secret: begun.flowSecret, issuer: issuer)
            }
            #expect((error == nil) == accepted.contains(issuer), "\(issuer)")
            #expect(error == nil || error?.detail == .authInvalidCredential)
            // The code may be another provider's.
            #expect(identity.transport.state.withLock { $0.posts.count } == (error == nil ? 1 : 0))
        }
    }

    @Test(arguments: ["jwks_uri", "token_endpoint", "authorization_endpoint"])
    func providerElsewhereReachesNoServiceOfThisMachine(_ member: String) async throws {
        let identity = try await TestIdentity()
        discover(identity, [member: #""http://127.0.0.1:50070/x""#])
        let error = await refusal { _ = try await identity.begin() }
        #expect(error?.status == .unavailable)
    }

    @Test(arguments: [
        (400, #"{"error":"invalid_grant"}"#, StatusCode.unauthenticated),
        (401, #"{"error":"<script>"}"#, .unauthenticated), (302, "", .unavailable), (500, "", .unavailable),
        (200, "{}", .unavailable), (200, "[", .unavailable), (200, #"{"id_token":"x.y.z"}"#, .unauthenticated),
    ])
    func responsesOfTheProviderAreTold(_ status: Int, _ body: String, _ expected: StatusCode) async throws {
        let identity = try await TestIdentity()
        let begun = try await identity.begin()
        identity.transport.state.withLock { $0.response = (status, Array(body.utf8)) }
        let state = parameters(begun.authorizationURL)["state"] ?? ""
        let error = await refusal {
            _ = try await identity.complete("code", state: state, secret: begun.flowSecret)
        }
        #expect(error?.status == expected)
        #expect(error?.message.contains("<") == false)
    }

    @Test(arguments: ["https://gateway.example.com/console/sso/callback", "http://[::1]:7/x", "http://localhost:7/"])
    func consoleAndLoopbackAreRedirectedTo(_ address: String) async throws {
        let identity = try await TestIdentity()
        #expect(try await !identity.begin(redirect: address).authorizationURL.isEmpty)
    }

    @Test(arguments: [
        "https://evil.example.com/callback", "http://gateway.example.com/console/sso/callback",
        "https://gateway.example.com/console/sso/callback/x", "javascript:alert(1)",
        "http://127.0.0.1@evil.example.com/",
        "https://gateway.example.com/console/sso/callback#x",
    ])
    func otherRedirectAddressesAreRefused(_ address: String) async throws {
        let identity = try await TestIdentity()
        let error = await refusal { _ = try await identity.begin(redirect: address) }
        #expect(error?.status == .invalidArgument)
    }

    @Test func addressDoesNotUseUpTheExchangesWithAProvider() async throws {
        let identity = try await TestIdentity()
        let begun = try await identity.begin()
        let state = parameters(begun.authorizationURL)["state"] ?? ""
        let mayCome = Signal()
        identity.transport.state.withLock { $0.responsesMayArrive = mayCome }
        let complete = { @Sendable (host: String) in
            await refusal {
                _ = try await identity.complete("code", state: state, secret: begun.flowSecret, host: host)
            }
        }
        func arrived(_ count: Int) async {
            while true {
                let seen = identity.transport.posted.count
                if identity.transport.state.withLock({ $0.posts.count }) >= count { return }
                await identity.transport.posted.wait(after: seen)
            }
        }
        await withTaskGroup(of: RPCError?.self) { group in
            for _ in 0..<32 { group.addTask { await complete("192.0.2.7") } }
            await arrived(32)
            let refused = await complete("192.0.2.7")
            #expect(
                refused?.message == "too many sign-ins from your address are in progress at corp: try again later")
            group.addTask { await complete("192.0.2.8") }
            await arrived(33)
            mayCome.notify()
            #expect(await group.reduce(0) { count, _ in count + 1 } == 33)
        }
        #expect(identity.world.environment.limits.all == ["sign_in_exchanges": 1])
    }
}
