import Basics
import TestSupport
import Testing

@testable import ObjectFilters

@Suite(.timeLimited) struct FilterParserTests {
    private static func created(_ lower: Int64?, _ upper: Int64?) -> ResolvedFilter.Term {
        .created(
            ObjectFilter.Interval(
                lower: lower.map { $0 * 1_000_000 }, upper: upper.map { $0 * 1_000_000 }))
    }

    /// Filters whose terms are combined with AND, as in version 0.1.
    static let good: [(String, [ResolvedFilter.Term])] = [
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
        ("device=260101-000001", [.device(.text("260101-000001"))]),
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
        ("topic=/camera", [.topic(.text("/camera"))]),
        ("topic:/camera/*", [.topic(.prefix("/camera/"))]),
        (
            "recorded_from>=1970-01-01T00:00:10Z recorded_to<1970-01-02T00:00:00Z",
            [
                .recordedFrom(ObjectFilter.Interval(lower: 10_000_000)),
                .recordedTo(ObjectFilter.Interval(upper: 86_400_000_000)),
            ]
        ),
    ]

    @Test(arguments: 0..<good.count) func termsAreParsed(_ index: Int) throws {
        let (text, terms) = Self.good[index]
        let expected: Expression = terms.count == 1 ? Self.term(terms[0]) : .all(terms.map(Self.term))
        #expect(try FilterParser.parse(text).root == expected, "\(text)")
    }

    private typealias Expression = ObjectFilter.Expression

    private static func term(_ term: ResolvedFilter.Term) -> Expression { .term(.steady(term)) }
    private static func tag(_ key: String, _ value: String) -> Expression { term(.tag(key: key, value: value)) }
    private static func word(_ word: String) -> Expression { term(.word(word)) }
    private static func begins(_ text: String) -> Expression { term(.begins(text)) }
    private static func size(_ lower: Int64?, _ upper: Int64? = nil) -> Expression {
        term(.size(ObjectFilter.Interval(lower: lower, upper: upper)))
    }
    private static func age(_ lower: Int64?, _ upper: Int64? = nil) -> Expression {
        .term(.age(ObjectFilter.Interval(lower: lower, upper: upper)))
    }

    /// Computed, because the leak sanitizer does not recognize the pointers in stored expressions.
    private static var expressions: [(String, Expression)] {
        [
            ("weather=rain", tag("weather", "rain")),
            ("weather = rain", tag("weather", "rain")),
            ("weather  =\"rain\"", tag("weather", "rain")),
            ("\"route name\" = a", tag("route name", "a")),
            ("raw_tags.weather : rain", tag("weather", "rain")),
            ("rain weather = rain", .all([word("rain"), tag("weather", "rain")])),
            ("NOT size > 1MB", .not(size(1_000_001))),
            ("(k = v)", tag("k", "v")),
            ("begins: run", begins("run")),
            ("begins : run", begins("run")),
            ("*.MCAP", term(.name(.suffix(".mcap")))),
            ("*Drive*", term(.name(.part("drive")))),
            ("run*.mcap", term(.name(.pieces(["run", ".mcap"])))),
            ("\"front *cam*\"*", term(.name(.pieces(["front ", "cam", ""])))),
            ("name : *r**N", term(.name(.pieces(["", "r", "n"])))),
            ("device:26*-1*", term(.device(.pieces(["26", "-1", ""])))),
            ("  weather=rain  ", tag("weather", "rain")),
            ("weather=\"heavy rain\"", tag("weather", "heavy rain")),
            ("\"route name\"=a", tag("route name", "a")),
            ("raw_tags_x=1", tag("raw_tags_x", "1")),
            ("Status=verified", tag("Status", "verified")),
            ("weather=a=b:c", tag("weather", "a=b:c")),
            ("rain", word("rain")),
            ("RUN07*", begins("run07")),
            ("begins:RUN07", begins("run07")),
            ("begins:RUN07*", begins("run07")),
            ("begins:\"Heavy rain\"*", begins("heavy rain")),
            ("begins:\"a**\"", begins("a*")),
            ("begins:a=b", begins("a=b")),
            ("begins=run07", tag("begins", "run07")),
            ("folder:run7/cameras/", term(.folder("run7/cameras"))),
            ("folder : \"run 7\"", term(.folder("run 7"))),
            ("folder=run7", tag("folder", "run7")),
            ("folder", word("folder")),
            ("begins", word("begins")),
            ("\"Heavy Rain\"", word("heavy rain")),
            ("\"heavy rain\"*", begins("heavy rain")),
            ("\"OR\"", word("or")),
            ("or", word("or")),
            ("ANDROID", word("android")),
            ("NOTE ORder", .all([word("note"), word("order")])),
            ("ÉTÉ", word("été")),
            ("f(1)", word("f(1)")),
            ("a b", .all([word("a"), word("b")])),
            ("a AND b", .all([word("a"), word("b")])),
            ("a OR b", .any([word("a"), word("b")])),
            ("a b OR c AND d", .any([.all([word("a"), word("b")]), .all([word("c"), word("d")])])),
            ("a (b OR c) d", .all([word("a"), .any([word("b"), word("c")]), word("d")])),
            ("NOT a b", .all([.not(word("a")), word("b")])),
            ("NOT (a b)", .not(.all([word("a"), word("b")]))),
            ("NOT(a)", .not(word("a"))),
            ("NOT NOT a", .not(.not(word("a")))),
            ("a AND NOT b OR NOT c", .any([.all([word("a"), .not(word("b"))]), .not(word("c"))])),
            ("( ( a ) )", word("a")),
            ("(a)", word("a")),
            ("(k=v)", tag("k", "v")),
            ("(k=(v))", tag("k", "(v)")),
            ("(k=f(1) OR (l=g))", .any([tag("k", "f(1)"), tag("l", "g")])),
            ("k=v)", tag("k", "v)")),
            ("k=a)b(c", tag("k", "a)b(c")),
            ("(k=\"v)\")", tag("k", "v)")),
            ("name:run07*", term(.name(.prefix("run07")))),
            ("name:Run07.MCAP", term(.name(.text("run07.mcap")))),
            ("name=run07*", term(.name(.text("run07*")))),
            ("name:\"run 07*\"", term(.name(.prefix("run 07")))),
            ("name:\"run 07\"*", term(.name(.prefix("run 07")))),
            ("name:*Camera*", term(.name(.part("camera")))),
            ("name:*.mcap", term(.name(.suffix(".mcap")))),
            ("name=*.mcap", term(.name(.text("*.mcap")))),
            ("name:\"*front camera*\"", term(.name(.part("front camera")))),
            ("name:\"*front camera\"*", term(.name(.part("front camera")))),
            ("device:261121-*", term(.device(.prefix("261121-")))),
            ("device:*-000001", term(.device(.suffix("-000001")))),
            ("device=261121-*", term(.device(.text("261121-*")))),
            ("content_type:video/*", term(.contentType(.prefix("video/")))),
            ("content_type=video/mp4", term(.contentType(.text("video/mp4")))),
            ("trashed=true", term(.trashed(true))),
            ("trashed:false", term(.trashed(false))),
            ("size>1MiB", size((1 << 20) + 1)),
            ("size>=1MB", size(1_000_000)),
            ("size<1.5GiB", size(nil, 3 << 29)),
            ("size=1kb", size(1000, 1001)),
            ("size:7B", size(7, 8)),
            ("size>=0.000001KiB", size(0)),
            ("created>=2026-11-22", .term(.days(.created, .greaterOrEqual, .date(20_779)))),
            ("recorded=2026-11-22", .term(.days(.recorded, .equal, .date(20_779)))),
            ("created<=\"2026-11-22\"", .term(.days(.created, .lessOrEqual, .date(20_779)))),
            ("recorded=today", .term(.days(.recorded, .equal, .relative(0...0)))),
            ("recorded_from<Yesterday", .term(.days(.recordedFrom, .less, .relative(-1 ... -1)))),
            ("(recorded:last 7 days)", .term(.days(.recorded, .equal, .relative(-6...0)))),
            ("recorded_to>=\"last 1 day\"", .term(.days(.recordedTo, .greaterOrEqual, .relative(0...0)))),
            ("age<7d", age(nil, 604_800)),
            ("age>=12h", age(43_200)),
            ("age<=90s", age(nil, 91)),
            ("age>15m", age(901)),
            ("age>2w", age(1_209_601)),
        ]
    }

    @Test(arguments: 0..<expressions.count) func expressionsAreParsed(_ index: Int) throws {
        let (text, expected) = Self.expressions[index]
        #expect(try FilterParser.parse(text).root == expected, "\(text)")
    }

    static let bad: [(String, Int, String)] = [
        ("status:uploaded", 7, "expected \"verified\", found \"uploaded\""),
        ("colour:red", 0, "object_id, content_type, recorded_from, recorded_to or KEY=VALUE, found \"colour:red\""),
        ("raw_tags.k=\"é\" colour<red", 16, "or KEY=VALUE, found \"colour<red\""),
        ("topic>/camera", 5, "only numbers and times have an order"),
        ("recorded_from=soon", 14, "expected a date or time"),
        ("Status:verified", 0, "or KEY=VALUE"),
        ("status", 6, "expected an operator after \"status\""),
        ("status OR a", 6, "found a space"),
        ("status:", 7, "expected a value, found the end of the filter"),
        ("raw_tags.=x", 9, "expected the key of a tag"),
        ("raw_tags.\"\"=x", 9, "expected the key of a tag"),
        ("\"\"=x", 0, "expected the key of a tag"),
        ("raw_tags=x", 8, "expected a dot and the key of a tag, found \"=x\""),
        ("raw_tags.a b=x", 10, "expected an operator"),
        ("raw_tags.k", 10, "expected one of : = < <= > >="),
        ("raw_tags.k=\"open", 11, "expected a closing quote after this one, found the end of the filter"),
        ("raw_tags.k=\"a\\n\"", 14, "expected \\\" or \\\\, found \"n\"\""),
        ("raw_tags.k=\"a\\", 14, "found the end of the filter"),
        ("raw_tags.k=\"a\"b", 14, "expected a space, found \"b\""),
        ("raw_tags.k=a\"b\"", 12, "a value with a quote is written in quotes"),
        ("raw_tags.k<=a", 10, "only numbers and times have an order"),
        ("k<=a", 0, "or KEY=VALUE"),
        ("a\"b", 1, "expected a space"),
        ("\"a\"b", 3, "expected a space"),
        ("\"\"", 0, "expected a word"),
        ("*", 0, "expected a word"),
        ("begins:*", 7, "expected a word"),
        ("begins:\"\"", 7, "expected a word"),
        ("begins>a", 0, "or KEY=VALUE"),
        ("folder:/run7", 7, "expected the path of a folder, such as run7/cameras, found \"/run7\""),
        ("folder:\"\"", 7, "expected the path of a folder"),
        ("folder:a/../b", 7, "expected the path of a folder"),
        ("folder:\"run\"*", 12, "expected a space"),
        ("folder>a", 0, "or KEY=VALUE"),
        ("**", 0, "expected a word"),
        ("weather = ", 10, "expected a value, found the end of the filter"),
        ("(weather = )", 11, "expected a value, found \")\""),
        ("a = = b OR", 10, "expected a term"),
        ("status:verified AND", 19, "expected a term, found the end of the filter"),
        ("status:verified AND ", 20, "expected a term"),
        ("status:verified OR ", 19, "expected a term"),
        ("NOT", 3, "expected a term"),
        ("OR", 0, "expected a term, found \"OR\""),
        ("AND status:verified", 0, "expected a term"),
        ("status:verified AND AND status:verified", 20, "expected a term, found \"AND\""),
        ("a OR OR b", 5, "expected a term"),
        ("()", 1, "expected a term, found \")\""),
        ("(a", 2, "expected \")\", found the end of the filter"),
        ("(a OR b", 7, "expected \")\""),
        ("(k=(v)", 6, "expected \")\""),
        ("a)", 1, "expected a space, found \")\""),
        ("a )", 2, "expected a term"),
        ("(a)b", 3, "expected a space"),
        ("=x", 0, "expected a term"),
        ("status<verified", 6, "only numbers and times have an order"),
        ("-status:verified", 0, "or KEY=VALUE"),
        ("status:verified\tstatus:verified", 15, "found a control character"),
        ("site=one", 5, "expected the number of a site, found \"one\""),
        ("size=", 5, "expected a value"),
        ("size=-1", 5, "expected a size such as 1048576 or 1MiB, found \"-1\""),
        ("size>9223372036854775807", 5, "expected a size"),
        ("size>99999999999999999999", 5, "expected a size"),
        ("size>9000PiB", 5, "expected a size"),
        ("size>1M", 5, "expected a size"),
        ("size>1.5", 5, "expected a size"),
        ("size>1.MiB", 5, "expected a size"),
        ("size>1.1234567MiB", 5, "expected a size"),
        ("size>1.2.3MiB", 5, "expected a size"),
        ("size>MiB", 5, "expected a size"),
        (
            "created=tomorrow", 8,
            "expected a date or time such as 2026-01-31 or 2026-01-31T08:00:00Z, today, yesterday or \"last 7 days\""
        ),
        ("recorded=last 0 days", 9, "expected a date or time"),
        ("recorded=last", 9, "expected a date or time"),
        ("recorded=\"last 7 weeks\"", 9, "expected a date or time"),
        ("created=2026-02-29", 8, "expected a date"),
        ("created=2026-2-9", 8, "expected a date"),
        ("created=2026-02-29T00:00:00Z", 8, "expected a date"),
        ("created=2026-01-01T00:00:00", 8, "expected a date"),
        ("created=2026-01-01T00:00:00.Z", 8, "expected a date"),
        ("created=2026-01-01T00:00:00+24:00", 8, "expected a date"),
        ("created=2026-01-01T00:00:60Z", 8, "expected a date"),
        ("age=7d", 3, "expected <, <=, > or >="),
        ("age<7", 4, "expected an age such as 90s, 15m, 12h, 7d or 2w, found \"7\""),
        ("age<d", 4, "expected an age"),
        ("age<99999999999999999w", 4, "expected an age"),
        ("trashed=yes", 8, "expected true or false, found \"yes\""),
        ("name:*", 5, "(a term that matches everything can be left out), found \"*\""),
        ("name:**", 5, "(a term that matches everything can be left out)"),
        ("name:\"*\"", 6, "expected characters"),
        ("name>a", 4, "only numbers and times have an order"),
    ]

    @Test(arguments: 0..<bad.count) func refusesAtTheByte(_ index: Int) throws {
        let (text, position, message) = Self.bad[index]
        let error = try #require(#expect(throws: FilterError.self) { try FilterParser.parse(text) }, "\(text)")
        #expect(error.position == position && error.description.contains(message), "\(text): \(error)")
        #expect(error.description.hasPrefix("byte \(position): expected "))
    }

    @Test(arguments: [
        ("test", "begins:test"), ("TEST* \"heavy rain\"*", "begins:TEST* begins:\"heavy rain\"*"),
        ("(a OR NOT b) k=v", "(begins:a OR NOT begins:b) k=v"), ("NOT(a)", "NOT(begins:a)"),
        ("  f(1) \"a \\\"b\\\" é\" ", "  begins:f(1) begins:\"a \\\"b\\\" é\" "),
        ("*.mcap a*b", "begins:*.mcap begins:a*b"),
        ("begins=x weather=rain name:run*", "begins=x weather=rain name:run*"), ("", ""),
        ("\"k\"=v a", "\"k\"=v begins:a"), ("x recorded", "begins:x begins:recorded"),
        ("\"a*\"* (\"b**\" \"c*\") d**", "begins:\"a*\"* (begins:\"b**\" begins:\"c*\") begins:d**"),
    ])
    func wordsOfStoredFiltersBecomeBeginnings(_ text: String, _ expected: String) throws {
        #expect(try FilterParser.rewriting(text) == expected)
        #expect(try FilterParser.rewriting(expected).replacing("begins:", with: "") == text)
    }

    @Test(arguments: [
        ("recorded=2026-01-31", "raw_tags.recorded=2026-01-31"),
        ("(recorded=yes OR a) size>1", "(raw_tags.recorded=yes OR begins:a) size>1"),
        ("recorded_from>2026-01-31 \"recorded\"=x", "recorded_from>2026-01-31 \"recorded\"=x"),
    ])
    func tagThatHasTheNameOfANewFieldStaysATag(_ text: String, _ expected: String) throws {
        #expect(try FilterParser.rewriting(text) == expected)
    }

    /// Also if it is then longer than a list's filter may be.
    @Test func longestStoredFilterCanBeRewritten() throws {
        let text = "a b c d e f g h i j k l m n \(String(repeating: "x", count: 4062)) \"o\""
        #expect(text.utf8.count == 4094)
        let rewritten = try FilterParser.rewriting(text)
        #expect(throws: FilterError.self) { try FilterParser.parse(rewritten) }
        #expect(try FilterParser.parseForChange(rewritten).contains { $0 == .steady(.begins("o")) })
        #expect(throws: FilterError.self) {
            try FilterParser.parseForChange(rewritten + String(repeating: " ", count: 50))
        }
    }

    @Test(arguments: [
        (
            "test", 0, "expected begins:test (",
            "or name:*test* (a part of the name), because this filter selects what changes, found the word"
        ),
        ("age>3d NOT \"a \\\"b\"", 11, "expected begins:\"a \\\"b\"", "or name:\"*a \\\"b*\""),
    ])
    func wordsAreRefusedInOperations(_ text: String, _ position: Int, _ first: String, _ second: String) throws {
        let error = try #require(
            #expect(throws: FilterError.self) { try FilterParser.parseForChange(text) })
        #expect(error.position == position && error.expected.hasPrefix(first.dropFirst(9)), "\(error)")
        #expect(error.description.contains(second), "\(error)")
    }

    @Test(arguments: ["test*", "\"a b\"*", "begins:test", "name:*test* k=v", "*.mcap", "a*b"])
    func otherTermsAreAcceptedInOperations(_ text: String) throws {
        #expect(try FilterParser.parseForChange(text) == FilterParser.parse(text))
    }

    @Test func filtersBeyondLimitsAreRefused() throws {
        let term = "status:verified"
        let sixteen = Array(repeating: term, count: 16).joined(separator: " ")
        #expect(try FilterParser.parse(sixteen).root == .all(Array(repeating: Self.term(.isVerified), count: 16)))
        let seventeenth = try #require(
            #expect(throws: FilterError.self) { try FilterParser.parse("\(sixteen) \(term)") })
        #expect(seventeenth.position == sixteen.utf8.count + 1)
        let value = String(repeating: "x", count: 4096 - 11)
        let longest = "raw_tags.k=\(value)"
        #expect(try FilterParser.parse(longest).root == Self.term(.tag(key: "k", value: value)))
        let nested = String(repeating: "(", count: 16) + "a" + String(repeating: ")", count: 16)
        #expect(try FilterParser.parse(nested).root == Self.term(.word("a")))
        let deeper = try #require(#expect(throws: FilterError.self) { try FilterParser.parse("(NOT \(nested))") })
        #expect(deeper.position == 19)
        #expect(throws: FilterError.self) { try FilterParser.parse(longest + "x") }
    }
}
