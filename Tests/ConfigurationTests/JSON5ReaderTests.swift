import TestSupport
import Testing

@testable import Configuration

@Suite(.timeLimited) struct JSON5ReaderTests {
    @Test func everyConstructOfJSON5IsRead() throws {
        let value = try JSON5Reader.value(
            of: """
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
                """)
        #expect(
            value
                == .object([
                    "unquoted": .text("single \"quotes\""), "$_1": .text("double 'quotes'"), "quoted": .null,
                    "ünï": .flag(true),
                    "numbers": .list([
                        .integer(0), .integer(-1), .integer(2), .integer(16), .integer(-255), .number(0.5), .number(5),
                        .number(1000), .number(-0.25), .integer(.max), .number(9_223_372_036_854_775_808),
                    ]),
                    "escapes": .text("\u{8}\u{C}\n\r\t\u{B}\0Aé😀'anext"), "empty": .object([:]), "none": .list([]),
                    "trailing": .list([.integer(1)]),
                ]))
    }

    @Test(arguments: [
        ("", 1, 1, "the text ends where a value should stand"),
        ("{", 1, 2, "a name should stand here"),
        ("{\n  a: 1\n  b: 2\n}", 3, 3, "a comma or } should stand here"),
        ("{a: 1,, b: 2}", 1, 7, "a name should stand here"),
        ("{a 1}", 1, 4, "a colon should stand behind a"),
        ("{1a: 1}", 1, 2, "a name should stand here"),
        ("{\n a: 1,\n a: 2}", 3, 2, "a is there twice"),
        ("[1 2]", 1, 4, "a comma or ] should stand here"),
        ("{a: info}", 1, 5, "info is no value; texts stand in quotation marks"),
        ("{a: 01}", 1, 5, "01 is no value; texts stand in quotation marks"),
        ("{a: 64k}", 1, 5, "64k is no value; texts stand in quotation marks"),
        ("{a: 0x}", 1, 5, "0x is no value; texts stand in quotation marks"),
        ("{a: --1}", 1, 5, "--1 is no value; texts stand in quotation marks"),
        ("{\r\n a: 'b\r\n}", 2, 5, "the text in quotation marks does not end"),
        ("{a: 'b", 1, 5, "the text in quotation marks does not end"),
        ("{a: '\\u12'}", 1, 8, "4 hexadecimal digits should stand here"),
        ("{a: '\\uD83Dx'}", 1, 8, "half of a surrogate pair"),
        ("{a: '\\1'}", 1, 7, "there is no such escape"),
        ("{} /* ", 1, 4, "the comment does not end"),
        ("{} {}", 1, 4, "something follows the value"),
        (String(repeating: "[", count: 1000), 1, 33, "nested more than 32 deep"),
    ])
    func malformedJSON5IsRefusedAtItsPosition(text: String, line: Int, column: Int, problem: String) {
        #expect(throws: JSON5Error(line: line, column: column, problem: problem)) {
            try JSON5Reader.value(of: text)
        }
    }
}
