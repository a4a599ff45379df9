import TestSupport
import Testing

@testable import Basics
@testable import Crypto

@Suite(.timeLimited) struct DigestTests {
    @Test func digestsEqualKnownAnswers() {
        #expect(Hex.lower(Digest.md5(Array("abc".utf8))) == "900150983cd24fb0d6963f7d28e17f72")
        #expect(Hex.lower(Digest.sha1(Array("abc".utf8))) == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(
            Hex.lower(Digest.sha256([])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    @Test func piecesEqualTheWhole() {
        let digest = IncrementalDigest(.md5)
        for _ in 0..<2 {
            Array("a".utf8).withUnsafeBytes { digest.update($0) }
            Array("bc".utf8).withUnsafeBytes { digest.update($0) }
            #expect(Hex.upper(digest.finalize()) == "900150983CD24FB0D6963F7D28E17F72")
        }
    }

    /// RFC 4231, test case 2, and an empty key.
    @Test func hmacEqualsKnownAnswers() {
        let code = HMAC.sha256(key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
        #expect(Hex.lower(code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(
            Hex.lower(HMAC.sha256(key: [], []))
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }
}

@Suite(.timeLimited) struct EncodingTests {
    /// RFC 4648, section 10.
    @Test(arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")])
    func base64IsWrittenAndReadWithAndWithoutPadding(plain: String, encoded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
        #expect(Base64.decode(encoded.filter { $0 != "=" }) == Array(plain.utf8))
    }

    @Test(arguments: ["Z", "Zg=", "Zh==", "Zg==Zg==", "Z g=", "Zg-_"])
    func malformedBase64IsRefused(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test func base64URLUsesItsAlphabet() {
        #expect(Base64.encodeURL([0xFB, 0xFF]) == "-_8")
        #expect(Base64.decodeURL("-_8") == [0xFB, 0xFF])
    }

    @Test func hexRefusesOddLengthAndStrangers() {
        #expect(Hex.decode("0aF") == nil)
        #expect(Hex.decode("0g") == nil)
        #expect(Hex.decode("0aFf") == [0x0A, 0xFF])
    }
}

@Suite(.timeLimited) struct ES256Tests {
    @Test func signsAndVerifies() throws {
        let key = ES256Key()
        let message = Array("header.payload".utf8)
        var signature = key.sign(message)
        let again = try #require(ES256Key(pkcs8: key.privateKey.exposed))
        #expect(again.verify(signature, of: message))
        #expect(again.publicCoordinates.x == key.publicCoordinates.x)
        #expect(!again.verify(signature, of: Array("header.other".utf8)))
        #expect(!again.verify(Array(signature.dropLast()), of: message))
        signature[10] ^= 1
        #expect(!again.verify(signature, of: message))
        #expect(!again.verify([UInt8](repeating: 0, count: 64), of: message))
    }

    @Test func refusesWhatIsNoKey() {
        #expect(ES256Key(pkcs8: []) == nil)
        #expect(ES256Key(pkcs8: [0x30, 0x03, 1, 2, 3]) == nil)
    }
}
