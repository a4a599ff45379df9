import Basics
import TestSupport
import Testing

@testable import JSON

@Suite(.timeLimited) struct JSONValueTests {
    private func read(_ text: String, _ rules: JSONRules = .json) throws(JSONError) -> JSONValue {
        try JSONValue(parsing: Array(text.utf8), rules)
    }

    @Test(arguments: [
        "null", "true", "false", "0", "-1", "9223372036854775807", "9223372036854775808", "-0", "1.50", "1e3", "2E-1",
        "\"\"",
        "[]", "{}", #"{"b":[1,{"a":null}],"a":"é","b":2}"#, #""\u2028\u202e\u0000\\\"""#,
    ])
    func valuesAreWrittenAsTheyWereRead(text: String) throws {
        #expect(try read(" \(text)\n").text == text)
    }

    @Test func charactersOutsideOfTheBasicPlaneAreRead() throws {
        #expect(try read(#""\ud83d\ude00\uD842\uDFB7\u00e9😀""#) == .string("😀𠮷é😀"))
    }

    @Test(arguments: [
        ("", 0), ("{", 1), ("[1,]", 3), ("[1 2]", 3), ("{\"a\" 1}", 5), ("{a: 1}", 1), ("'a'", 0), ("01", 1), ("+1", 0),
        (".5", 0), ("1.", 2), ("nul", 0), ("[1] x", 4), ("\"a\nb\"", 2), ("\"\\x41\"", 2), ("\"\\$\"", 2),
        ("\"\\u+041\"", 3),
        ("\"\\u12\"", 3), ("\"\\ud83dx\"", 3), ("\"\\ude00\"", 3), ("\"a", 2), ("\"a\\", 3), ("// a", 0),
        (String(repeating: "[", count: 101), 100),
    ])
    func otherTextsAreRefusedAtTheirPosition(text: String, offset: Int) {
        #expect(throws: JSONError.self) { try read(text) }
        do throws(JSONError) {
            _ = try read(text)
        } catch {
            #expect(error.offset == offset)
        }
    }

    @Test func bytesThatAreNotTextAreRefused() {
        for rules in [JSONRules.json, .json5] {
            #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xFF, 0x22], rules) }
            #expect(throws: JSONError.self) { try JSONValue(parsing: [0xFF], rules) }
        }
    }

    @Test func nullCharacterIsRefusedInTextsThatAreStored() throws {
        let error = #expect(throws: JSONError.self) { try read(#"{"a":["b\u0000"]}"#, .stored) }
        #expect(error?.reason == .invalidText && error?.problem == "a string must not contain the character U+0000")
        #expect(try read(#""\u0001""#, .stored) == .string("\u{1}"))
    }

    @Test func repeatedMembersAreRefusedWhereTheyAreAmbiguous() throws {
        let text = #"{"a":1,"b":{"c":2,"c":3}}"#
        #expect(try read(text).members?["b"]?.members == ["c": .number(2)])
        for rules in [JSONRules.token, .json5] {
            let error = #expect(throws: JSONError.self) { try read(text, rules) }
            #expect(error == JSONError(.duplicateField, at: 18, field: "c", problem: "the key c is given twice"))
        }
    }

    @Test func blanksAreRefusedWhereOneTextMustHaveOneForm() throws {
        var rules = JSONRules.json
        rules.permitsBlanks = false
        #expect(try read(#"{"a b":[1,2]}"#, rules).members?["a b"] == .array([.number(1), .number(2)]))
        for text in [" 1", "1 ", "[1, 2]", "{\"a\": 1}", "{ }"] {
            #expect(throws: JSONError.self) { try read(text, rules) }
        }
    }

    @Test func numbersAreWholeOrNot() throws {
        for text in ["100", "100.0", "1e2", "1000e-1"] { #expect(try read(text).integer == 100) }
        for text in ["1.5", "1e-1", "9223372036854775808", "\"1\"", "null"] { #expect(try read(text).integer == nil) }
        #expect(try read("1.5").double == 1.5)
        #expect(try read("1e999").double == nil)
    }

    @Test func placesOfMembersAreRecorded() throws {
        let text = "{a: [1, {b: 2}],\n 'c d': 3}"
        var reader = JSONValueReader(Array(text.utf8), .json5, recordsPlaces: true)
        _ = try reader.document()
        #expect(reader.places == ["a": 1, "a[0]": 5, "a[1]": 8, "a[1].b": 9, "c d": 18])
    }
}
