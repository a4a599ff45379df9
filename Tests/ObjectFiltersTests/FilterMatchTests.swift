import TestSupport
import Testing

@testable import ObjectFilters

@Suite(.timeLimited) struct FilterMatchTests {
    private static let object = {
        var object = FilterSubject(
            id: "id", deviceID: "261121-00000A", siteID: 2, size: 1 << 20, createdAt: 1_000_000_000_000,
            name: "run07.mcap")
        object.contentType = "video/mp4"
        object.path = "run 7/cameras/run07.mcap"
        return object
    }()
    private static let tags = ["weather": "Heavy rain", "empty": ""]

    private static func matches(_ text: String, tags: [String: String]? = tags) throws -> Bool? {
        try FilterParser.parse(text).resolved(at: 1_000_100).matches(object, tags: tags)
    }

    @Test(arguments: [
        "", "status:verified", "object_id=id", "device=261121-00000A", "device:261121-*", "site=2", "size=1MiB",
        "created=1970-01-12T13:46:40Z", "age<=100s", "age>=100s", "age<101s", "age>99s", "name:RUN07*",
        "name=Run07.mcap", "name:*07*", "name:*run07.mcap*", "name:*.MCAP", "device:*00000A", "content_type:*/mp4",
        "content_type:video/*", "content_type=video/mp4", "trashed=false", "weather=\"Heavy rain\"", "empty=\"\"",
        "run07", "heavy", "HEAVY*", "261121-00000a", "begins:RUN07", "begins:heavy", "begins:261121-00000a*",
        "un07", "07.mc", "MCAP", "07", "m", ".", "mc", ".m", "r", "*.mcap", "r*7.m*p", "*un*ap", "name:r*n*7*",
        "run07*.mcap", "*7*.*",
        "rain OR heavy", "NOT rain", "NOT (rain OR site=3)",
        "heavy (site=3 OR size>1)", "folder:\"run 7\"", "folder:\"run 7/cameras/\"", "path:\"run 7/*\"",
    ])
    func filterMatchesTheObject(_ filter: String) throws {
        #expect(try Self.matches(filter) == true)
        #expect(try filter.isEmpty || Self.matches("NOT (\(filter))") == false)
    }

    @Test(arguments: [
        "object_id=ID", "device=261121-00000a", "device:261121-00000a*", "device=261121-*", "site=3", "size>1MiB",
        "created>1970-01-12T13:46:40Z", "age<100s", "age>100s", "name=run07", "name:07*", "name:*08*", "name:*run07",
        "name:*run07.mcapp*", "device:*00000a", "content_type:Video/*",
        "content_type=video", "trashed=true", "weather=rain", "weather=\"heavy rain\"", "raw_tags.no=x", "rain",
        "mcapp",
        "un", "ca", "n0", "u", "7", "mcap*", "r*x*p", "*.bag", "run07*07.mcap", "*ru*un*", "un*.mcap", "*run",
        "begins:un07", "begins:rain",
        "video", "NOT status:verified", "folder:run", "folder:\"run 7/cam\"", "folder:cameras", "device=\"\"",
        "folder:\"run 7/cameras/run07.mcap\"", "folder:\"Run 7\"",
    ])
    func doesNotMatchTheObject(_ filter: String) throws {
        #expect(try Self.matches(filter) == false)
        #expect(try Self.matches("NOT (\(filter))") == true)
    }

    @Test func objectWithoutADeviceHasAnEmptyOne() throws {
        var object = Self.object
        object.deviceID = nil
        for (filter, expected) in [("device=\"\"", true), ("device:261121-*", false), ("NOT device=\"\"", false)] {
            #expect(try FilterParser.parse(filter).resolved(at: 0).matches(object, tags: nil) == expected, "\(filter)")
        }
    }

    @Test(arguments: [
        ("folder:a", "a"), ("folder:a folder:a/b size>1", "a/b"), ("(folder:a k=v) size>1", "a"),
        ("folder:a OR k=v", nil),
        ("NOT folder:a", nil), ("k=v", nil),
    ])
    func requiredFolderIsTheDeepest(_ filter: String, _ expected: String?) throws {
        #expect(try FilterParser.parse(filter).resolved(at: 0).hidingTrash.folder == expected)
    }

    @Test(arguments: ["run7", "run 7", "a\"b\\c", "cameras/front (1)", "é"])
    func valuesAreReadAsTheyWereWritten(_ text: String) throws {
        let filter = try FilterParser.parse("(folder:\(FilterParser.value(text)))").resolved(at: 0)
        #expect(filter.folder == text)
        #expect((FilterParser.value(text) == text) == (text == "run7"))
    }

    /// A filter compares keys like the index, by bytes.
    @Test func keysThatUnicodeTakesForTheSameAreDifferent() throws {
        for (key, expected) in [("\u{e9}", true), ("e\u{301}", false)] {
            #expect(try Self.matches("raw_tags.\(key)=1", tags: ["\u{e9}": "1"]) == expected)
        }
    }

    @Test(arguments: [
        ("rain", nil), ("weather=rain", nil), ("run07", true), ("run07 OR rain", true), ("site=3 rain", false),
        ("site=2 rain", nil), ("NOT rain", nil), ("site=2 OR rain", true), ("site=3 OR rain", nil),
    ])
    func unknownTagsLeaveOnlyWhatDependsOnThemOpen(_ filter: String, _ expected: Bool?) throws {
        #expect(try Self.matches(filter, tags: nil) == expected)
    }

    @Test(arguments: [
        ("run=1 (k=v rain) NOT k=v", "rain NOT k=v"), ("run=1", ""), ("run=1 OR k=v", "run=1 OR k=v"),
        ("size>1 raw_tags.run=1", "size>1"),
    ])
    func requiredTagsAreLeftOut(_ filter: String, _ rest: String) throws {
        let left = try FilterParser.parse(filter).resolved(at: 0).withoutRequiredTags
        let right = try FilterParser.parse(rest).resolved(at: 0)
        #expect(Self.terms(left) == Self.terms(right))
    }

    private static func terms(_ filter: ResolvedFilter) -> [ResolvedFilter.Term] {
        var terms: [ResolvedFilter.Term] = []
        _ = filter.contains { term in
            terms.append(term)
            return false
        }
        return terms
    }

    @Test(arguments: [("ABC", "abc"), ("ÉTÉ", "été"), ("ΑΣ", "ασ"), ("İ", "i\u{307}"), ("名前", "名前")])
    func lowercasesByScalar(_ text: String, _ expected: String) {
        #expect(text.lowercasedByScalar.unicodeScalars.elementsEqual(expected.unicodeScalars))
    }
}
