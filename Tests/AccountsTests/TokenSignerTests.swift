import Basics
import Crypto
import Foundation
import TestSupport
import Testing

@testable import Accounts

/// The attacks in RFC 8725.
@Suite(.timeLimited) struct TokenSignerTests {
    let key = SigningKey(ES256Key())
    let now = UnixTime(seconds: 1_800_000_000)
    let signer: TokenSigner
    let token: AccessToken

    init() {
        signer = TokenSigner(keys: SigningKeys([key]))
        token = AccessToken(kind: .user, subject: "7", epoch: 3, expiresAt: UnixTime(seconds: 1_800_000_900))
    }

    /// Signs any header and claims with the signer's own key.
    private func forge(header: String? = nil, claims: String? = nil) -> String {
        let header = header ?? #"{"alg":"ES256","typ":"user+jwt","kid":"\#(key.id)"}"#
        let claims =
            claims
            ?? #"{"iss":"data-gateway","aud":"data-gateway/users","sub":"7","nbf":1800000000,"exp":1800000900,"epoch":3}"#
        let signed = Base64.encodeURL(Array(header.utf8)) + "." + Base64.encodeURL(Array(claims.utf8))
        return signed + "." + Base64.encodeURL(key.key.sign(Array(signed.utf8)))
    }

    @Test func verifiesWhatItIssues() {
        #expect(signer.verify(signer.issue(token, at: now), at: now) == token)
        #expect(signer.verify(forge(), at: now) == token)
    }

    @Test func holdsUntilItsExpiryAndNotBeforeItsBeginning() {
        let text = signer.issue(token, at: now)
        #expect(signer.verify(text, at: UnixTime(seconds: 1_800_000_899)) != nil)
        #expect(signer.verify(text, at: UnixTime(seconds: 1_800_000_900)) == nil)
        #expect(signer.verify(text, at: now.adding(seconds: -TokenSigner.leewaySeconds)) != nil)
        #expect(signer.verify(text, at: now.adding(seconds: -TokenSigner.leewaySeconds - 1)) == nil)
    }

    @Test func olderKeysVerifyAndUnknownOnesDoNot() {
        let next = SigningKey(ES256Key())
        let old = signer.issue(token, at: now)
        let rotated = TokenSigner(keys: SigningKeys([key, next]))
        #expect(rotated.verify(old, at: now) == token)
        #expect(rotated.verify(rotated.issue(token, at: now), at: now) == token)
        #expect(signer.verify(rotated.issue(token, at: now), at: now) == nil)
        #expect(TokenSigner(keys: SigningKeys([next])).verify(old, at: now) == nil)
    }

    @Test(arguments: [
        #"{"alg":"none","typ":"user+jwt","kid":"KID"}"#, #"{"alg":"HS256","typ":"user+jwt","kid":"KID"}"#,
        #"{"alg":"ES256","typ":"user+jwt","kid":"other"}"#, #"{"alg":"ES256","typ":"user+jwt"}"#,
        #"{"alg":"ES256","typ":"JWT","kid":"KID"}"#, #"{"alg":"ES256","kid":"KID"}"#,
        #"{"alg":"ES256","typ":"user+jwt","kid":"KID","jku":"https://example.net"}"#,
        #"{"alg":"ES256","typ":"user+jwt","kid":"KID","crit":["b64"]}"#,
        #"{"alg":"ES256","typ":"user+jwt","kid":"KID","kid":"KID"}"#,
    ])
    func refusesOtherHeadersThoughTheSignatureIsRight(_ header: String) {
        #expect(signer.verify(forge(header: header.replacingOccurrences(of: "KID", with: key.id)), at: now) == nil)
    }

    @Test(arguments: [
        #"{"iss":"somebody","aud":"data-gateway/users","sub":"7","nbf":1800000000,"exp":1800000900,"epoch":3}"#,
        #"{"iss":"data-gateway","aud":"data-gateway/uploads","sub":"7","nbf":1800000000,"exp":1800000900,"epoch":3}"#,
        #"{"iss":"data-gateway","sub":"7","nbf":1800000000,"exp":1800000900,"epoch":3}"#,
        #"{"iss":"data-gateway","aud":"data-gateway/users","nbf":1800000000,"exp":1800000900,"epoch":3}"#,
        #"{"iss":"data-gateway","aud":"data-gateway/users","sub":"7","nbf":1800000000,"epoch":3}"#,
        #"{"iss":"data-gateway","aud":"data-gateway/users","sub":"7","exp":1800000900,"epoch":3}"#,
        #"{"iss":"data-gateway","aud":"data-gateway/users","sub":"7","sub":"8","nbf":1800000000,"exp":1800000900,"epoch":3}"#,
    ])
    func refusesOtherClaimsThoughTheSignatureIsRight(_ claims: String) {
        #expect(signer.verify(forge(claims: claims), at: now) == nil)
    }

    @Test func refusesATokenOfTheOtherKindsTypeWithItsOwnAudience() {
        let header = #"{"alg":"ES256","typ":"key+jwt","kid":"\#(key.id)"}"#
        #expect(signer.verify(forge(header: header), at: now) == nil)
    }

    @Test func refusesWhatIsBrokenOrTooLong() {
        let text = signer.issue(token, at: now)
        #expect(signer.verify(String(text.dropLast()), at: now) == nil)
        #expect(signer.verify(text + "A", at: now) == nil)
        #expect(signer.verify(text + ".", at: now) == nil)
        #expect(signer.verify("", at: now) == nil)
        #expect(signer.verify("..", at: now) == nil)
        let parts = text.split(separator: ".")
        #expect(signer.verify("\(parts[0]).\(parts[1]).", at: now) == nil)
        let long =
            #"{"iss":"data-gateway","aud":"data-gateway/users","sub":"7","nbf":1800000000,"exp":1800000900,"epoch":3,"x":""#
        #expect(signer.verify(forge(claims: long + String(repeating: "x", count: 8192) + "\"}"), at: now) == nil)
        #expect(signer.verify(forge(claims: long + "\"}"), at: now) != nil)
    }
}

@Suite(.timeLimited) struct AccessTokensTests {
    let now = UnixTime(seconds: 1_800_000_000)
    let tokens = AccessTokens(
        signer: TokenSigner(keys: SigningKeys([SigningKey(ES256Key())])), lifetime: .seconds(900), capacity: 8)

    @Test func aRememberedTokenExpiresToo() {
        let (text, expiresAt) = tokens.issue(.apiKey, subject: "k", epoch: 1, at: now)
        #expect(tokens.verify(text, at: now) != nil)
        #expect(tokens.count == 1)
        #expect(tokens.verify(text, at: expiresAt.adding(seconds: -1)) != nil)
        #expect(tokens.verify(text, at: expiresAt) == nil)
    }

    @Test func remembersABoundedNumber() {
        let texts = (0..<50).map { tokens.issue(.apiKey, subject: "\($0)", epoch: 1, at: now).text }
        for text in texts {
            #expect(tokens.verify(text, at: now) != nil)
            #expect(tokens.verify(texts[0], at: now)?.subject == "0")
            #expect(tokens.count <= 8)
        }
    }

    @Test func aRefusedTokenIsNotRemembered() {
        #expect(tokens.verify("a.b.c", at: now) == nil)
        #expect(tokens.count == 0)
    }
}
