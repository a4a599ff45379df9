import Basics
import Crypto
import TestSupport
import Testing

/// AES-256-GCM and scrypt against published vectors.
@Suite(.timeLimited) struct SealingTests {
    /// The Galois/Counter Mode of Operation (McGrew, Viega), test cases 13 to 15.
    @Test(arguments: [
        ("", "", "530f8afbc74536b9a963b4f1c4cb738b", true),
        (
            "00000000000000000000000000000000", "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919",
            true
        ),
        (
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
                + "b16aedf5aa0de657ba637b391aafd255",
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
                + "c5f61e6393ba7a0abcc9f662898015ad",
            "b094dac5d93471bdec1a502270e3cc6c", false
        ),
    ])
    func sealingEqualsTheVectors(plain: String, sealed: String, tag: String, isZero: Bool) throws {
        let key = try #require(
            isZero
                ? Array(repeating: 0, count: 32)
                : Hex.decode("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"))
        let nonce = try #require(isZero ? Array(repeating: 0, count: 12) : Hex.decode("cafebabefacedbaddecaf888"))
        let bytes = try #require(Hex.decode(plain))
        #expect(Hex.lower(AES256GCM.seal(bytes, key: key, nonce: nonce)) == sealed + tag)
        #expect(AES256GCM.open(try #require(Hex.decode(sealed + tag)), key: key, nonce: nonce) == bytes)
    }

    @Test func shortBytesAndOtherKeysDoNotOpen() {
        let (key, nonce) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 12))
        let sealed = AES256GCM.seal([1, 2, 3], key: key, nonce: nonce)
        #expect(AES256GCM.open(Array(sealed.prefix(15)), key: key, nonce: nonce) == nil)
        #expect(AES256GCM.open(sealed, key: [UInt8](repeating: 3, count: 32), nonce: nonce) == nil)
        #expect(AES256GCM.open(sealed, key: Array(key.dropLast()), nonce: nonce) == nil)
        #expect(AES256GCM.open(sealed, key: key, nonce: [UInt8](repeating: 3, count: 12)) == nil)
    }

    @Test func theSameScryptAsBefore() throws {
        // The result of hashlib.scrypt(b"passphrase", salt=b"0123456789abcdef", n=2**17, r=8, p=1, maxmem=2**28, dklen=32).
        let key = try #require(Scrypt.derive(Secret("passphrase"), salt: Array("0123456789abcdef".utf8), count: 32))
        #expect(Hex.lower(key) == "32e747b9a4265294ef228be5d10b4458cc51172711fc2a7b6941d83e89415299")
    }
}
