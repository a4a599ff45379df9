import Basics
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
            TestIssuer.rsa("x", exponent: "AQ"), TestIssuer.rsa("x", exponent: "AAEAAQ"),
            TestIssuer.rsa("x", exponent: "Ag"), TestIssuer.rsa("x", exponent: ""),
            TestIssuer.rsa("x", exponent: "AQAB="), TestIssuer.rsa("x", exponent: "////"),
            // 1024 bits, and a leading zero.
            TestIssuer.rsa("x", modulus: String(TestIssuer.modulus.prefix(171)) + "B"),
            TestIssuer.rsa("x", modulus: Base64.encodeURL([0] + (Base64.decodeURL(TestIssuer.modulus) ?? []))),
            "{}",
        ]
        for other in others {
            #expect(try ids([issuer.ec("good"), other]) == ["good"], "\(other)")
            #expect(error(TestIssuer.set([other])) == .noUsableKey)
        }
    }

    @Test func modulusIsAtMost8192BitsLong() throws {
        let longest = Base64.encodeURL([UInt8](repeating: 0xFF, count: 1024))
        #expect(try ids([TestIssuer.rsa("long", modulus: longest)]) == ["long"])
        let longer = Base64.encodeURL([1] + [UInt8](repeating: 0xFF, count: 1024))
        #expect(error(TestIssuer.set([TestIssuer.rsa("longer", modulus: longer)])) == .noUsableKey)
    }

    @Test func setsThatBreakARuleAreRefused() {
        #expect(error(TestIssuer.set([issuer.ec("a"), TestIssuer.rsa("a")])) == .repeatedKeyID("a"))
        #expect(error(TestIssuer.set((0..<33).map { issuer.ec("\($0)") })) == .tooManyKeys(33))
        #expect(error(TestIssuer.set((0..<32).map { issuer.ec("\($0)") })) == nil)
        #expect(error(TestIssuer.set([])) == .noUsableKey)
        for text in ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[7]}"#, #"{"keys":[],"keys":[]}"#, "{\"keys\":[]} x"] {
            #expect(error(Array(text.utf8)) == .malformed, "\(text)")
        }
        let padded = TestIssuer.set([issuer.ec("a")]) + [UInt8](repeating: 0x20, count: 65_536)
        #expect(error(padded) == .tooLong)
    }

    @Test func keyWithoutNameIsFoundWhereItIsTheOnlyOne() throws {
        let one = try JSONWebKeySet(parsing: TestIssuer.set([issuer.ec(nil)]))
        #expect(one.key(nil) != nil && one.key("ec") == nil)
        #expect(try issuer.keySet().key(nil) == nil)
    }
}
