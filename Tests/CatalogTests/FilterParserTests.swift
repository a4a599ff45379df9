import Basics
import TestSupport
import Testing

@testable import Catalog

@Suite(.timeLimited) struct FilterParserTests {
    private static func created(_ lower: Int64?, _ upper: Int64?) -> ObjectFilter.Term {
        .created(
            ObjectFilter.Interval(
                lower: lower.map { $0 * 1_000_000 }, upper: upper.map { $0 * 1_000_000 }))
    }

    static let good: [(String, [ObjectFilter.Term])] = [
        ("", []),
        ("status:verified", [.isVerified]),
        ("status=verified", [.isVerified]),
        ("status=\"verified\"", [.isVerified]),
        ("raw_tags.object_list_run=a-b", [.tag(key: "object_list_run", value: "a-b")]),
        ("raw_tags.run:1 raw_tags.run:1", [.tag(key: "run", value: "1"), .tag(key: "run", value: "1")]),
        ("raw_tags.a=x   AND   status:verified", [.tag(key: "a", value: "x"), .isVerified]),
        ("raw_tags.a=AND AND raw_tags.b=OR", [.tag(key: "a", value: "AND"), .tag(key: "b", value: "OR")]),
        ("raw_tags.a=b=c:d<e", [.tag(key: "a", value: "b=c:d<e")]),
        ("raw_tags.a=(x)", [.tag(key: "a", value: "(x)")]),
        ("raw_tags.\"with space:=\"=v", [.tag(key: "with space:=", value: "v")]),
        ("raw_tags.\"a\\\"b\\\\\":v", [.tag(key: "a\"b\\", value: "v")]),
        ("raw_tags.名前=値", [.tag(key: "名前", value: "値")]),
        ("raw_tags.k=\"\"", [.tag(key: "k", value: "")]),
        ("raw_tags.k=\"quote\\\"d \\\\ AND\"", [.tag(key: "k", value: "quote\"d \\ AND")]),
        ("raw_tags.k=back\\slash", [.tag(key: "k", value: "back\\slash")]),
        ("raw_tags..=x", [.tag(key: ".", value: "x")]),
        ("device=260101-000001", [.device("260101-000001")]),
        ("site:4", [.site(4)]),
        ("object_id=abc", [.objectID("abc")]),
        ("size=10", [.size(ObjectFilter.Interval(lower: 10, upper: 11))]),
        ("size<10", [.size(ObjectFilter.Interval(upper: 10))]),
        ("size<=10", [.size(ObjectFilter.Interval(upper: 11))]),
        ("size>10", [.size(ObjectFilter.Interval(lower: 11))]),
        ("size>=\"10\"", [.size(ObjectFilter.Interval(lower: 10))]),
        ("created=1970-01-01T00:00:10Z", [created(10, 11)]),
        ("created<1970-01-01T00:00:10Z", [created(nil, 10)]),
        ("created<=1970-01-01t00:00:10z", [created(nil, 11)]),
        ("created>1970-01-01T00:00:10.000Z", [created(11, nil)]),
        ("created>=1970-01-01T01:00:10+01:00", [created(10, nil)]),
        ("created>=1970-01-01T00:00:10.5Z", [created(11, nil)]),
        ("created<1970-01-01T00:00:10.5Z", [created(nil, 11)]),
        ("created=1970-01-01T00:00:10.5Z", [created(11, 11)]),
    ]

    @Test(arguments: 0..<good.count) func filtersParseToTheirTerms(_ index: Int) throws {
        let (text, terms) = Self.good[index]
        #expect(try FilterParser.parse(text).terms == terms, "\(text)")
    }

    static let bad: [(String, Int)] = [
        ("status:uploaded", 7),
        ("status:verified OR status:verified", 16),
        ("NOT status:verified", 0),
        ("(status:verified)", 0),
        ("colour=red", 0),
        ("raw_tags.k=\"é\" colour=red", 16),
        ("Status:verified", 0),
        ("status", 6),
        ("status:", 7),
        ("status: verified", 7),
        ("status :verified", 6),
        ("raw_tags.=x", 9),
        ("raw_tags.\"\"=x", 9),
        ("raw_tags=x", 8),
        ("raw_tags.a b=x", 10),
        ("raw_tags.k", 10),
        ("raw_tags.k=\"open", 11),
        ("raw_tags.k=\"a\\n\"", 14),
        ("raw_tags.k=\"a\\", 14),
        ("raw_tags.k=\"a\"b", 14),
        ("raw_tags.k=a\"b\"", 12),
        ("raw_tags.k<=a", 10),
        ("status:verified AND", 16),
        ("status:verified AND ", 20),
        ("AND status:verified", 0),
        ("status:verified AND AND status:verified", 20),
        ("status<verified", 6),
        ("-status:verified", 0),
        ("status:verified\tstatus:verified", 15),
        (" status:verified", 0),
        ("status:verified ", 16),
        ("site=one", 5),
        ("size=", 5),
        ("size=-1", 5),
        ("size>9223372036854775807", 5),
        ("size>99999999999999999999", 5),
        ("created=yesterday", 8),
        ("created=2026-02-29T00:00:00Z", 8),
        ("created=2026-01-01T00:00:00", 8),
        ("created=2026-01-01T00:00:00.Z", 8),
        ("created=2026-01-01T00:00:00+24:00", 8),
        ("created=2026-01-01T00:00:60Z", 8),
    ]

    @Test(arguments: 0..<bad.count) func refusesAtTheByte(_ index: Int) throws {
        let (text, position) = Self.bad[index]
        let error = try #require(#expect(throws: FilterError.self) { try FilterParser.parse(text) }, "\(text)")
        #expect(error.position == position, "\(text): \(error)")
    }

    @Test func filtersOverTheLimitsAreRefused() throws {
        let term = "status:verified"
        let sixteen = Array(repeating: term, count: 16).joined(separator: " ")
        #expect(try FilterParser.parse(sixteen).terms.count == 16)
        let seventeenth = try #require(
            #expect(throws: FilterError.self) { try FilterParser.parse("\(sixteen) \(term)") })
        #expect(seventeenth.position == sixteen.utf8.count + 1)
        let longest = "raw_tags.k=" + String(repeating: "x", count: 4096 - 11)
        #expect(try FilterParser.parse(longest).terms.count == 1)
        #expect(throws: FilterError.self) { try FilterParser.parse(longest + "x") }
    }

    /// Whatever it reads, it answers; and a position is one in the text.
    @Test(arguments: 1...20) func noBytesTrap(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "status", "raw_tags", ".", "k", "\"", "\\", ":", "=", "<", ">", " ", "AND ", "size", "created", "site",
            "verified",
            "2026-01-01T00:00:00Z", "9", "é", "\t", "(", "-", ".5", "+01:00",
        ]
        for _ in 0..<500 {
            let text =
                Bool.random(using: &generator)
                ? (0..<Int.random(in: 0...12, using: &generator)).map { _ in
                    pieces.randomElement(using: &generator) ?? ""
                }.joined()
                : String(
                    decoding: (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                        UInt8.random(in: 0...255, using: &generator)
                    }, as: UTF8.self)
            do {
                let terms = try FilterParser.parse(text).terms
                #expect(terms.isEmpty == text.isEmpty)
            } catch {
                #expect((0...text.utf8.count).contains(error.position), "\(text)")
            }
        }
    }
}
