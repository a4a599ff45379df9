import Basics
import TestSupport
import Testing

/// Base64 with both alphabets, and the decoder for long texts, which must agree with the other.
@Suite(.timeLimited) struct Base64Tests {
    /// RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func textsAreThoseOfTheStandard(_ plain: String, _ encoded: String) {
        let bare = encoded.prefix { $0 != "=" }
        #expect(Base64.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.encodeURL(Array(plain.utf8)) == bare)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
        #expect(Base64.decodeURL(bare) == Array(plain.utf8))
        #expect(Base64.decodeURL(Array(bare.utf8)[...]) == Array(plain.utf8))
    }

    @Test func bothDecodersAgreeAboutEveryEnd() {
        var differing: [[UInt8]] = []
        // Every pair of bytes as the last two characters, of two, three and four.
        for prefix in ["", "A", "_-"] {
            for first in UInt8.min...UInt8.max {
                for second in UInt8.min...UInt8.max {
                    let text = Array(prefix.utf8) + [first, second]
                    // The decoder for long texts takes no padding.
                    let slow = text.contains(0x3D) || text.contains(where: { $0 > 0x7F }) ? nil : Self.slow(text)
                    if Base64.decodeURL(text[...]) != slow { differing.append(text) }
                }
            }
        }
        #expect(differing.isEmpty)
    }

    @Test func bothDecodersAgreeAboutOneWrongCharacter() throws {
        let text = Array(Base64.encodeURL((0..<60).map { UInt8(truncatingIfNeeded: $0 * 37) }).utf8)
        for index in text.indices {
            for character in UInt8.min..<0x80 where character != 0x3D {
                var changed = text
                changed[index] = character
                #expect(Base64.decodeURL(changed[...]) == Self.slow(changed))
            }
        }
        // A slice that does not begin at 0.
        #expect(Base64.decodeURL(text[4...]) == Self.slow(Array(text[4...])))
    }

    private static func slow(_ text: [UInt8]) -> [UInt8]? { Base64.decodeURL(String(decoding: text, as: UTF8.self)) }
}
