import Basics
import Crypto
import TestSupport
import Testing

@testable import IdentityTokens

@Suite(.timeLimited) struct JSONWebKeySetTests {
    private let issuer = TestIssuer()

    private func error(_ bytes: [UInt8]) -> KeySetError? {
        do {
            _ = try JSONWebKeySet(parsing: bytes)
            return nil
        } catch {
            return error
        }
    }

    private func ids(_ keys: [String]) throws -> [String?] {
        try JSONWebKeySet(parsing: TestIssuer.set(keys)).entries.map(\.id)
    }

    @Test func keysOfBothTypesAreRead() throws {
        #expect(try ids(issuer.keys) == ["ec", "rsa"])
    }

    @Test func unusableKeysArePassedOver() throws {
        let ec = issuer.ec("x")
        let others = [
            ec.replacing("P-256", with: "P-384"), ec.replacing(#""kty":"EC""#, with: #""kty":"OKP""#),
            ec.replacing("{", with: #"{"use":"enc","#), ec.replacing("{", with: #"{"alg":"ES384","#),
            ec.replacing("{", with: #"{"key_ops":["sign"],"#), ec.replacing(#""x":""#, with: #""x":"AA"#),
            ec.replacing(#""kid":"x""#, with: #""kid":"""#), ec.replacing(#""kid":"x""#, with: #""kid":7"#),
            // The point is not on the curve.
            #"{"kty":"EC","crv":"P-256","kid":"x","x":"\#(Base64.encodeURL([UInt8](repeating: 1, count: 32)))","y":"\#(Base64.encodeURL([UInt8](repeating: 1, count: 32)))"}"#,
            TestIssuer.rsa("x", exponent: "AQ"), TestIssuer.rsa("x", exponent: "AQAB==="),
            TestIssuer.rsa("x", exponent: "Ag"), TestIssuer.rsa("x", exponent: ""),
            TestIssuer.rsa("x", exponent: "////"), TestIssuer.rsa("x", exponent: "=="),
            // 1024 bits.
            TestIssuer.rsa("x", modulus: String(TestIssuer.modulus.prefix(171)) + "B"),
            "{}", "7", "null", #"{"kty":"EC"}"#,
        ]
        for other in others {
            #expect(try ids([issuer.ec("good"), other]) == ["good"], "\(other)")
            #expect(error(TestIssuer.set([other])) == .noUsableKey([]))
        }
    }

    @Test func modulusIsAtMost8192BitsLong() throws {
        let longest = Base64.encodeURL([UInt8](repeating: 0xFF, count: 1024))
        #expect(try ids([TestIssuer.rsa("long", modulus: longest)]) == ["long"])
        let longer = Base64.encodeURL([1] + [UInt8](repeating: 0xFF, count: 1024))
        #expect(error(TestIssuer.set([TestIssuer.rsa("longer", modulus: longer)])) == .noUsableKey([]))
    }

    @Test func setsThatBreakARuleAreRefused() {
        #expect(error(TestIssuer.set([])) == .noUsableKey([]))
        for text in ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[],"keys":[]}"#, "{\"keys\":[]} x"] {
            #expect(error(Array(text.utf8)) == .malformed, "\(text)")
        }
        let padded = TestIssuer.set([issuer.ec("a")]) + [UInt8](repeating: 0x20, count: 65_536)
        #expect(error(padded) == .tooLong)
    }

    @Test func anyNumberOfOtherKeysIsPassedOver() throws {
        let others = (0..<100).map { #"{"kty":"OKP","crv":"Ed25519","kid":"\#($0)","x":"AA"}"# }
        #expect(try ids(others + [issuer.ec("good")] + others) == ["good"])
    }

    @Test func numbersMayHaveLeadingZerosAndPadding() throws {
        let modulus = TestIssuer.modulus
        let padded = modulus + String(repeating: "=", count: (4 - modulus.count % 4) % 4)
        let variants = [
            TestIssuer.rsa("rsa", modulus: Base64.encodeURL([0] + (Base64.decodeURL(modulus) ?? []))),
            TestIssuer.rsa("rsa", modulus: padded), TestIssuer.rsa("rsa", exponent: "AAEAAQ"),
            TestIssuer.rsa("rsa", exponent: "AAEAAQ=="),
        ]
        let token = try SignedToken(parsing: TestIssuer.rsaToken)
        for variant in variants {
            #expect(throws: Never.self) { try token.verify(JSONWebKeySet(parsing: TestIssuer.set([variant]))) }
        }
        // Listed in each way, it is still one key.
        #expect(throws: Never.self) {
            try token.verify(JSONWebKeySet(parsing: TestIssuer.set(variants + [TestIssuer.rsa("rsa")])))
        }
        let point = issuer.key.publicCoordinates
        let long = issuer.ec("ec").replacing(
            Base64.encodeURL(point.x), with: Base64.encodeURL([0] + point.x))
        #expect(throws: Never.self) {
            try SignedToken(parsing: issuer.sign()).verify(JSONWebKeySet(parsing: TestIssuer.set([long])))
        }
    }

    @Test func keysOfOneNameAreToldApartByTheirAlgorithm() throws {
        let ec = try SignedToken(parsing: issuer.sign(header: #"{"alg":"ES256","kid":"rsa"}"#))
        let rsa = try SignedToken(parsing: TestIssuer.rsaToken)
        for keys in [[issuer.ec("rsa"), TestIssuer.rsa("rsa")], [TestIssuer.rsa("rsa"), issuer.ec("rsa")]] {
            let set = try JSONWebKeySet(parsing: TestIssuer.set(keys))
            try ec.verify(set)
            try rsa.verify(set)
            #expect(set.ambiguities.isEmpty)
        }
    }

    @Test func keyMayBeListedForEachOfItsUses() throws {
        let key = TestIssuer.rsa("rsa")
        let others = [
            key.replacing("RS256", with: "RS512"), key.replacing(#""sig""#, with: #""enc""#),
            key.replacing(#","alg":"RS256""#, with: ""), key,
        ]
        let set = try JSONWebKeySet(parsing: TestIssuer.set(others + [key]))
        #expect(set.entries.map(\.id) == ["rsa"] && set.ambiguities.isEmpty)
        try SignedToken(parsing: TestIssuer.rsaToken).verify(set)
    }

    @Test func keysThatCannotBeToldApartAreLeftOut() throws {
        let (first, second) = (issuer.ec("a"), TestIssuer().ec("a"))
        let reason = #"several ES256 keys have the kid "a", so none of them is used"#
        for keys in [[first, second], [second, first], [first, first, second], [first, second, first]] {
            let set = try JSONWebKeySet(parsing: TestIssuer.set(keys + [TestIssuer.rsa("a"), issuer.ec("b")]))
            #expect(set.entries.map { "\($0.id ?? "") \($0.key.algorithm.rawValue)" } == ["a RS256", "b ES256"])
            #expect(set.ambiguities == [reason])
            #expect(error(TestIssuer.set(keys)) == .noUsableKey([reason]))
        }
        // A token without a kid could mean either of two keys without one.
        let nameless = try JSONWebKeySet(parsing: TestIssuer.set([issuer.ec(nil), TestIssuer().ec(nil)]))
        #expect(nameless.entries.count == 2 && nameless.key(nil, for: .es256) == nil)
        let repeated = try JSONWebKeySet(parsing: TestIssuer.set([issuer.ec(nil), issuer.ec(nil)]))
        #expect(repeated.key(nil, for: .es256) != nil)
    }

    @Test func keyWithoutNameIsFoundWhereItIsTheOnlyOne() throws {
        let one = try JSONWebKeySet(parsing: TestIssuer.set([issuer.ec(nil)]))
        #expect(one.key(nil, for: .es256) != nil && one.key("ec", for: .es256) == nil)
        #expect(try issuer.keySet().key(nil, for: .es256) == nil)
    }
}
