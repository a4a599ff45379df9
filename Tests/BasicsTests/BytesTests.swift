import Basics
import TestSupport
import Testing

/// U+0301 combines with the character before it, which `Character` then contains as well.
@Suite(.timeLimited) struct BytesTests {
    @Test func separatorsBeforeCombiningCharactersSplitTexts() {
        #expect("a/\u{301}b//c".split(byte: "/").map { Array($0.utf8) } == [[0x61], [0xCC, 0x81, 0x62], [], [0x63]])
        #expect("/a/".split(byte: "/", omittingEmpty: true) == ["a"])
        #expect("".split(byte: "/") == [""])
        #expect("".split(byte: "/", omittingEmpty: true).isEmpty)
    }

    @Test func separatorsBeforeCombiningCharactersDivideTexts() throws {
        let first = "k=\u{301}v=w"[...].halves(atFirst: "=")
        #expect(first.first == "k")
        #expect(Array(try #require(first.second).unicodeScalars) == ["\u{301}", "v", "=", "w"])
        let last = "k=v=\u{301}"[...].halves(atLast: "=")
        #expect(last.first == "k=v")
        #expect(last.second == "\u{301}")
        #expect("k"[...].halves(atFirst: "=").second == nil)
    }

    @Test func charactersBeforeCombiningCharactersAreReplaced() {
        let text = "\"\u{6E2}\\\u{301}+é".replacing(bytes: ["\"": "\"\"", "\\": "/", "+": ""])
        #expect(Array(text.unicodeScalars) == ["\"", "\"", "\u{6E2}", "/", "\u{301}", "é"])
    }

    @Test func plusesBeforeCombiningCharactersAreSpacesInQueries() throws {
        let decoded = try #require(URLEncoding.decode(query: "a+\u{301}b+c"))
        #expect(Array(decoded.unicodeScalars) == ["a", " ", "\u{301}", "b", " ", "c"])
    }
}
