import TestSupport
import Testing

@testable import Accounts

@Suite(.timeLimited) struct FlatJSONTests {
    @Test func readsWhatItWrites() throws {
        let text = FlatJSON.encode([("sub", .text("a-b")), ("exp", .number(0)), ("big", .number(.max))])
        let members = try #require(FlatJSON.decode(Array(text.utf8)))
        #expect(members == ["sub": .text("a-b"), "exp": .number(0), "big": .number(.max)])
    }

    @Test(arguments: [
        "", "{", "{}", "[]", #"{"a":1"#, #"{"a":1}x"#, #"{"a":1,}"#, #"{"a":1,"a":2}"#, #"{"a":"\u0041"}"#,
        #"{"a":-1}"#, #"{"a":01}"#, #"{"a":1.5}"#, #"{"a":9223372036854775808}"#, #"{"a":null}"#, #"{"a":{}}"#,
        #"{ "a":1}"#, #"{"a":"é"}"#, #"{"a"}"#, #"{a:1}"#, #"{"a":"b"#, #"{"a":}"#,
    ])
    func refusesEverythingElse(_ text: String) {
        #expect(FlatJSON.decode(Array(text.utf8)) == nil)
    }
}
