import TestSupport
import Testing

@testable import Catalog

@Suite(.timeLimited) struct TagTextsTests {
    @Test(arguments: [
        [:], ["weather": "rain"], ["": "", "a": "", "ü": "日本 = x"], ["k": String(repeating: "v", count: 509)],
    ])
    func tagsAreReadFromTheirText(tags: [String: String]) throws {
        var read: [String: String] = [:]
        TagTexts.forEachTag(in: try #require(TagTexts.text(of: tags))) { text in
            let (key, value) = TagTexts.tag(text)
            read[key] = value
        }
        #expect(read == tags)
    }

    @Test(arguments: [["a\u{1F}": "b"], ["a": "\u{1F}"], ["k": String(repeating: "v", count: 510)]])
    func tagsThatDoNotFitHaveNoText(tags: [String: String]) {
        #expect(TagTexts.text(of: tags) == nil)
    }
}
