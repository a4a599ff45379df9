import Basics
import Foundation
import TestSupport
import Testing

@Suite(.timeLimited) struct TrimmingTests {
    /// Every code point at both ends, as Foundation's sets of characters have it.
    @Test func trimmedCodePointsAreThoseOfFoundation() {
        for value in 0...UInt32(0x10FFFF) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = "\(Character(scalar))a\(Character(scalar))"
            let isSpace = CharacterSet.whitespaces.contains(scalar)
            let isSpaceOrLineEnd = CharacterSet.whitespacesAndNewlines.contains(scalar)
            // Not `==`, for which a text with a combining character may be equal to another.
            guard (text.trimmingSpaces().utf8.count == 1) == isSpace,
                (text.trimmingSpacesAndLineEnds().utf8.count == 1) == isSpaceOrLineEnd
            else {
                Issue.record("U+\(String(value, radix: 16))")
                return
            }
        }
    }

    @Test func spacesWithinTheTextStay() {
        #expect(" \t a b\r\n".trimmingSpaces() == "a b\r\n")
        #expect(" \t a b\r\n".trimmingSpacesAndLineEnds() == "a b")
        #expect("  ".trimmingSpaces().isEmpty)
        #expect("[::1]".trimming(scalars: { $0 == "[" || $0 == "]" }) == "::1")
    }

    /// A space before a combining character is one character with it.
    @Test func spaceBeforeACombiningCharacterIsRemoved() {
        #expect(Array(" \u{301}a".trimmingSpaces().unicodeScalars) == ["\u{301}", "a"])
    }
}
