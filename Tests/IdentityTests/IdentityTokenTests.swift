import Basics
import Crypto
import TestSupport
import Testing

@testable import IdentityTokens

/// The rules for tokens of other parties, and the attacks of RFC 8725.
@Suite(.timeLimited) struct IdentityTokenTests {
    private let issuer = TestIssuer()
    private let rules = IdentityTokenRules(issuer: TestIssuer.url, audiences: ["gateway", "app"])

    private func verify(
        _ text: String, of bearer: IdentityTokenRules.Bearer = .person, at now: UnixTime = TestIssuer.now
    ) throws -> IdentityToken {
        try rules.verify(try SignedToken(parsing: text), of: bearer, keys: try issuer.keySet(), at: now)
    }

    private func reason(_ text: String, at now: UnixTime = TestIssuer.now) -> IdentityTokenError? {
        do {
            _ = try verify(text, at: now)
            return nil
        } catch {
            return error as? IdentityTokenError
        }
    }

    @Test func tokensOfBothAlgorithmsAreVerified() throws {
        #expect(try verify(issuer.sign()).subject == "ada")
        #expect(try verify(TestIssuer.rsaToken).subject == "ada")
    }

    @Test func anyChangeOfASignatureIsRefused() {
        for text in [issuer.sign(), TestIssuer.rsaToken] {
            let parts = text.split(separator: ".")
            for place in [0, 20, parts[2].count - 2] {
                var signature = Array(parts[2].utf8)
                signature[place] = signature[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
                let changed = "\(parts[0]).\(parts[1]).\(String(decoding: signature, as: UTF8.self))"
                #expect(reason(changed) == .signature)
            }
            #expect(reason("\(parts[0]).\(parts[1]).") == .signature)
        }
    }

    @Test(arguments: [
        (#"{"alg":"none","kid":"ec"}"#, IdentityTokenError.algorithm),
        (#"{"alg":"HS256","kid":"rsa"}"#, .algorithm), (#"{"alg":"es256","kid":"ec"}"#, .algorithm),
        (#"{"alg":["ES256"],"kid":"ec"}"#, .algorithm), (#"{"kid":"ec"}"#, .algorithm),
        (#"{"alg":"RS256","kid":"ec"}"#, .signature), (#"{"alg":"ES256","kid":"rsa"}"#, .signature),
        (#"{"alg":"ES256","kid":"../../ec"}"#, .unknownKey), (#"{"alg":"ES256","kid":"other"}"#, .unknownKey),
        (#"{"alg":"ES256"}"#, .unknownKey), (#"{"alg":"ES256","kid":"ec","typ":"at+jwt"}"#, .type),
        (#"{"alg":"ES256","kid":"ec","typ":"logout+jwt"}"#, .type),
        (#"{"alg":"ES256","kid":1}"#, .malformed("its kid is not a string")),
        (#"{"alg":"ES256","kid":"ec","crit":["b64"],"b64":false}"#, .malformed("its header has critical extensions")),
    ])
    func forgedHeadersAreRefused(_ header: String, _ expected: IdentityTokenError) {
        #expect(reason(issuer.sign(header: header)) == expected)
    }

    @Test func keysInTheHeaderAreNotUsed() {
        let stranger = TestIssuer()
        let header = #"{"alg":"ES256","kid":"ec","jwk":\#(stranger.ec("ec")),"jku":"https://example.net/keys"}"#
        #expect(reason(stranger.sign(header: header)) == .signature)
        #expect(reason(issuer.sign(header: header)) == nil)
    }

    @Test(
        arguments: [
            (["iss": #""https://sso.example.com/""#], IdentityTokenError.issuer), (["iss": ""], .issuer),
            (["aud": #""another""#], .audience), (["aud": ""], .audience), (["aud": "[]"], .audience),
            (["aud": #"["gateway",7]"#], .audience), (["aud": #"["gateway","another"]"#], .otherAudience),
            (["aud": #"["gateway","another"]"#, "azp": #""gateway""#], .otherAudience),
            (["aud": #"["gateway","app"]"#, "azp": #""another""#], .authorizedParty),
            (["azp": "7"], .authorizedParty),
            (["exp": "1799999940"], .expired), (["exp": ""], .times), (["exp": #""1800000600""#], .times),
            (["exp": "1e400"], .times), (["exp": "-1"], .times), (["iat": ""], .times),
            (["iat": "1800000061"], .notYetValid),
            (["nbf": "1800000061"], .notYetValid), (["nbf": "null"], .times), (["sub": ""], .subject),
            (["sub": #""""#], .subject), (["sub": "7"], .subject), (["sub": #""a\u0000b""#], .subject),
            (["sub": "\"\(String(repeating: "a", count: 256))\""], .subject),
        ] as [([String: String], IdentityTokenError)])
    func tokensThatBreakARuleAreRefused(_ changes: [String: String], _ expected: IdentityTokenError) {
        #expect(reason(issuer.sign(TestIssuer.claims(changes))) == expected)
    }

    @Test(arguments: [
        ["aud": #"["app"]"#], ["aud": #"["gateway","app"]"#],
        ["aud": #"["app","gateway"]"#, "azp": #""gateway""#], ["azp": #""android""#],
        ["exp": "1799999941"], ["iat": "1800000060"], ["exp": "1800000600.5"], ["nbf": "1800000060"],
        ["sub": "\"\(String(repeating: "a", count: 255))\""],
    ])
    func tokensWithinTheRulesAreVerified(_ changes: [String: String]) {
        #expect(reason(issuer.sign(TestIssuer.claims(changes))) == nil)
    }

    @Test(arguments: [
        #"["another","gateway"]"#, #"["gateway","app"]"#, #""app""#, #"["https://kubernetes.default.svc","app","x"]"#,
    ])
    func tokensOfWorkloadsMayHaveOtherAudiences(audience: String) throws {
        for claims in [["aud": audience], ["aud": audience, "azp": #""another""#]] {
            #expect(try verify(issuer.sign(TestIssuer.claims(claims)), of: .workload).subject == "ada")
        }
        for other in [#""another""#, "[]", #"["another","x"]"#, #"["gateway",7]"#, ""] {
            #expect(throws: IdentityTokenError.audience) {
                try verify(issuer.sign(TestIssuer.claims(["aud": other])), of: .workload)
            }
        }
    }

    @Test func malformedTokensAreRefused() throws {
        let valid = issuer.sign()
        let parts = valid.split(separator: ".").map(String.init)
        let repeated = issuer.sign(#"{"sub":"ada","sub":"eve"}"#)
        let nested = issuer.sign(TestIssuer.claims(["x": #"{"a":1,"a":2}"#]))
        let texts = [
            "", ".", "..", "...", parts[0], "\(parts[0]).\(parts[1])", "\(valid).x", " \(valid)", "\(valid)=",
            valid.replacing(".", with: "+"), "e30.e30.", "\(parts[0]).W10.\(parts[2])", repeated, nested,
            issuer.sign(TestIssuer.claims(["x": "\"\(String(repeating: "a", count: 16_384))\""])),
        ]
        for text in texts {
            guard case .malformed? = reason(text) else {
                if ["e30.e30."].contains(text) { continue }
                Issue.record("\(text.prefix(100)) is \(String(describing: reason(text)))")
                continue
            }
        }
    }

    @Test func longestTokenIsVerifiedAndOneByteMoreIsNot() {
        // Base64url makes 4 characters of 3 bytes.
        let length = { (count: Int) in
            issuer.sign(TestIssuer.claims(["x": "\"\(String(repeating: "a", count: count))\""]))
        }
        let fits = (11_000..<13_000).last { length($0).utf8.count <= SignedToken.maximumBytes }
        #expect(fits.flatMap { reason(length($0)) } == nil)
        #expect(fits.flatMap { reason(length($0 + 3)) } == .malformed("it is longer than 16384 bytes"))
    }

    @Test func emailIsVerifiedByTruthValueOrText() throws {
        for (value, expected) in [
            ("true", true), (#""true""#, true), ("false", false), (#""false""#, false), ("1", false),
        ] {
            let token = try verify(
                issuer.sign(TestIssuer.claims(["email": #""ada@example.com""#, "email_verified": value])))
            #expect(token.isEmailVerified == expected)
        }
        #expect(try !verify(issuer.sign(TestIssuer.claims(["email_verified": "true"]))).isEmailVerified)
    }

    @Test func digestDoesNotDependOnTheSignature() throws {
        let (first, second) = (issuer.sign(), issuer.sign())
        #expect(first != second)
        #expect(try SignedToken(parsing: first).digest == SignedToken(parsing: second).digest)
        #expect(try SignedToken(parsing: first).digest != SignedToken(parsing: TestIssuer.rsaToken).digest)
    }
}
