import TestSupport
import Testing

@testable import JSON

@Suite(.timeLimited) struct JSON5Tests {
    @Test func everyConstructOfJSON5IsRead() throws {
        let value = try JSONValue(
            parsing: Array(
                """
                \u{FEFF}// a comment
                {
                  unquoted: 'single "quotes"', $_1: "double 'quotes'", "quoted": null, ünï: true,
                  /* a longer
                     one * / */
                  numbers: [0, -1, +2, 0x10, -0xfF, .5, 5., 1e3, -2.5E-1, 9223372036854775807, 9223372036854775808],
                  escapes: '\\b\\f\\n\\r\\t\\v\\0\\x41\\u00e9\\uD83D\\uDE00\\'\\a\\\nnext',
                  empty: {}, none: [],
                  trailing: [1,],
                }
                """.utf8), .json5)
        #expect(
            value
                == .object([
                    .init(name: "unquoted", value: .string("single \"quotes\"")),
                    .init(name: "$_1", value: .string("double 'quotes'")), .init(name: "quoted", value: .null),
                    .init(name: "ünï", value: .bool(true)),
                    .init(
                        name: "numbers",
                        value: .array([
                            .number(0), .number(-1), .number(2), .number(16), .number(-255), .decimal("0.5"),
                            .decimal("5.0"), .decimal("1000.0"), .decimal("-0.25"), .number(.max),
                            .decimal("9.223372036854776e+18"),
                        ])),
                    .init(name: "escapes", value: .string("\u{8}\u{C}\n\r\t\u{B}\0Aé😀'anext")),
                    .init(name: "empty", value: .object([])), .init(name: "none", value: .array([])),
                    .init(name: "trailing", value: .array([.number(1)])),
                ]))
    }

    @Test(arguments: [
        ("", 1, 1, "expected a value before the end of the file"),
        ("{", 1, 2, "expected a key"),
        ("{\n  a: 1\n  b: 2\n}", 3, 3, "expected a comma or }"),
        ("{a: 1,, b: 2}", 1, 7, "expected a key"),
        ("{a 1}", 1, 4, "expected a colon after a"),
        ("{1a: 1}", 1, 2, "expected a key"),
        ("{\n a: 1,\n a: 2}", 3, 2, "the key a is given twice"),
        ("[1 2]", 1, 4, "expected a comma or ]"),
        ("{a: info}", 1, 5, "unexpected info: strings must be in quotation marks"),
        ("{a: 01}", 1, 5, "unexpected 01: strings must be in quotation marks"),
        ("{a: 64k}", 1, 5, "unexpected 64k: strings must be in quotation marks"),
        ("{a: 0x}", 1, 5, "unexpected 0x: strings must be in quotation marks"),
        ("{a: --1}", 1, 5, "unexpected --1: strings must be in quotation marks"),
        ("{\r\n a: 'b\r\n}", 2, 5, "the closing quotation mark is missing"),
        ("{a: 'b", 1, 5, "the closing quotation mark is missing"),
        ("{a: '\\u12'}", 1, 8, "expected 4 hexadecimal digits"),
        ("{a: '\\uD83Dx'}", 1, 8, "the escape sequence is only one half of a surrogate pair"),
        ("{a: '\\1'}", 1, 7, "the escape sequence is unknown"),
        ("{} /* ", 1, 4, "the end of the comment is missing"),
        ("{é: 'é', ü 1}", 1, 12, "expected a colon after ü"),
        ("{a: 1e999}", 1, 5, "unexpected 1e999: strings must be in quotation marks"),
        ("{} {}", 1, 4, "expected the end of the file after the value"),
        (String(repeating: "[", count: 1000), 1, 33, "the value is nested more than 32 levels deep"),
    ])
    func malformedJSON5IsRefusedAtItsPosition(text: String, line: Int, column: Int, problem: String) {
        let position = "line \(line), column \(column)"
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: Array(text.utf8), .json5) }
        #expect(error?.problem == problem)
        #expect(error.map { JSONPosition(of: $0.offset, in: Array(text.utf8)).description } == position)
    }
}
