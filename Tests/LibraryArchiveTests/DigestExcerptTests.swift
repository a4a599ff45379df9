import AppProto
import TestSupport
import Testing

@testable import LibraryArchive

@Suite(.timeLimited) struct DigestExcerptTests {
    private func excerpt(_ text: String, _ keyword: String) -> DigestExcerpt? {
        DigestExcerpt(of: text, containing: FoldedText(keyword))
    }

    /// Returns the marked parts.
    private func hits(_ excerpt: DigestExcerpt?) -> [String] {
        guard let excerpt else { return [] }
        let units = Array(excerpt.content.utf16)
        return excerpt.ranges.map {
            String(decoding: units[Int($0.start)..<Int($0.start + $0.length)], as: UTF16.self)
        }
    }

    @Test(arguments: [
        ("0123456789ABCDE甲abcde9876543210", "甲", "56789ABCDE甲abcde98765"),
        ("甲", "甲", "甲"), ("123甲", "甲", "123甲"), ("甲123", "甲", "甲123"),
        ("12345678901甲2甲34567890123", "甲", "2345678901甲2甲3456789012"),
    ])
    func excerptHasTenCharactersOnBothSides(text: String, keyword: String, content: String) throws {
        let found = try #require(excerpt(text, keyword))
        #expect(found.content == content)
        #expect(hits(found) == Array(repeating: keyword, count: found.ranges.count))
    }

    @Test func charactersAreNotCut() throws {
        let family = "👩‍👩‍👧‍👦"
        let found = try #require(excerpt(String(repeating: family, count: 30) + "x" + "e\u{301}" + "y", "x"))
        #expect(found.content == String(repeating: family, count: 10) + "xe\u{301}y")
        #expect(found.ranges.map(\.start) == [Int32(10 * family.utf16.count)])
        // A hit within a character shows the whole character.
        let within = try #require(excerpt("e\u{301}", "e"))
        #expect(within.content == "e\u{301}" && hits(within) == ["e"])
        let accent = try #require(excerpt("ae\u{301}b", "\u{301}"))
        #expect(accent.content == "ae\u{301}b" && accent.ranges.map(\.start) == [2])
    }

    @Test(arguments: [
        ("Straße", "STRAßE"), ("ΣΑΣ", "σας"), ("ſ", "S"), ("K", "k"), ("Ǆ", "ǅ"), ("ÀÉ", "àé"), ("Ж", "ж"), ("Ａ", "ａ"),
        ("𐐀𐐨𐐏", "𐐨𐐀𐐷"), ("𞤀", "𞤢"), ("İSTANBUL", "İstanbul"), ("Ꭰ", "ꭰ"),
    ])
    func caseIsIgnored(text: String, keyword: String) {
        #expect(hits(excerpt(text, keyword)) == [text])
    }

    /// Texts of two letters, in which the beginnings of a keyword are everywhere.
    @Test(arguments: 1...20)
    func everyHitIsFoundInTextsOfRepetitions(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        func letters(_ counts: ClosedRange<Int>) -> [UInt8] {
            (0..<Int.random(in: counts, using: &generator)).map { _ in UInt8.random(in: 97...98, using: &generator) }
        }
        for _ in 0..<200 {
            let (text, keyword) = (letters(0...40), letters(1...6))
            var (expected, position) = ([Int](), 0)
            while position + keyword.count <= text.count {
                let isHit = text[position...].starts(with: keyword)
                if isHit { expected.append(position) }
                position += isHit ? keyword.count : 1
            }
            let folded = FoldedText(String(decoding: text, as: UTF8.self))
            let pattern = FoldedText(String(decoding: keyword, as: UTF8.self))
            #expect(folded.positions(of: pattern) == expected)
            #expect(folded.positions(of: pattern, limit: 1) == Array(expected.prefix(1)))
        }
    }

    @Test func lettersThatOnlyLookAlikeDiffer() {
        #expect(excerpt("ı", "i") == nil)
        // Its lower case is two scalars, so it has no simple folding.
        #expect(excerpt("İ", "i") == nil && excerpt("İ", "i\u{307}") == nil)
        #expect(excerpt("ss", "ß") == nil)
        #expect(excerpt("甲", "乙") == nil)
        #expect(excerpt("", "a") == nil && excerpt("abc", "abcd") == nil)
    }

    @Test func hitsDoNotOverlapAndAreLimited() throws {
        #expect(hits(excerpt("aaaaa", "aa")) == ["aa", "aa"])
        let many = try #require(excerpt(String(repeating: "a", count: 100_000), "a"))
        #expect(many.content.count == 210 && many.ranges.count == 210)
    }

    @Test func hitsAfterFoldedLettersAreInTheirPlace() throws {
        let found = try #require(excerpt("😀𐐀İ 𐐨İ", "𐐨İ"))
        #expect(found.content == "😀𐐀İ 𐐨İ")
        #expect(found.ranges.map(\.start) == [2, 6] && found.ranges.map(\.length) == [3, 3])
        #expect(hits(found) == ["𐐀İ", "𐐨İ"])
    }

    @Test func caseMattersToKeywordsWithLettersOnly() {
        #expect(FoldedText("𐐀").hasCase && FoldedText("𐐨").hasCase)
        #expect(!FoldedText("甲、1😀").hasCase)
        #expect(FoldedText("甲a").hasCase && FoldedText("ß").hasCase == FoldedText("ẞ").hasCase)
        #expect(FoldedText("Σ").hasCase && FoldedText("ς").hasCase)
    }
}
