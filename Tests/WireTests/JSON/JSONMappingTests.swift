import TestSupport
import Testing
import Wire
import WireTesting

@testable import ProtobufJSON

/// The JSON mapping of everything but the well-known types.
@Suite(.timeLimited) struct JSONMappingTests {
    private let mapping: JSONMapping

    init() throws {
        mapping = JSONMapping(schema: try Schema(TestFiles.all))
    }

    private func text(_ message: some Message, includesInitialValues: Bool = false) throws -> String {
        String(
            decoding: try mapping.text(message, includesInitialValues: includesInitialValues), as: UTF8.self)
    }

    private func parse<M: Message>(_ json: String, as type: M.Type = M.self) throws(JSONError) -> M {
        try mapping.message(from: [UInt8](json.utf8))
    }

    private func error<M: Message>(_ json: String, as type: M.Type) -> JSONError? {
        do throws(JSONError) {
            _ = try parse(json, as: type)
            return nil
        } catch {
            return error
        }
    }

    @Test func scalarsMapToJSONAndBack() throws {
        let json =
            #"{"doubleValue":1.5,"floatValue":-2.25,"int32Value":-3,"int64Value":"4000000000","uint32Value":5,"#
            + #""uint64Value":"18446744073709551615","sint32Value":-7,"sint64Value":"-9223372036854775808","#
            + #""fixed32Value":9,"fixed64Value":"10","sfixed32Value":-11,"sfixed64Value":"-12","boolValue":true,"#
            + #""stringValue":"naïve","bytesValue":"AAH/","colour":"COLOUR_RED"}"#
        #expect(try text(Sample.scalars) == json)
        #expect(try parse(json) == Sample.scalars)
        #expect(try text(Scalars()) == "{}")
        #expect(try text(Scalars(colour: .unrecognized(77))) == #"{"colour":77}"#)
    }

    @Test func repeatedMapAndOneofFieldsMapToJSONAndBack() throws {
        #expect(try parse(text(Sample.repeateds)) == Sample.repeateds)
        #expect(try parse(text(Sample.maps)) == Sample.maps)
        #expect(
            try text(Maps(blobs: [true: [1]], doubles: [-5: 2])) == #"{"blobs":{"true":"AQ=="},"doubles":{"-5":2}}"#)
        #expect(try text(Optionals(int32Value: 0, scalars: Scalars())) == #"{"int32Value":0,"scalars":{}}"#)
        #expect(try text(Choices(choice: .number(0))) == #"{"number":0}"#)
        #expect(try text(Choices(choice: .again(Choices(before: 1)))) == #"{"again":{"before":1}}"#)
        #expect(
            try parse(#"{"before":1,"again":{"text":""}}"#)
                == Choices(before: 1, choice: .again(Choices(choice: .text("")))))
    }

    @Test func initialValuesAreWrittenOnDemand() throws {
        let json = try text(Choices(), includesInitialValues: true)
        #expect(json == #"{"before":0,"between":0}"#)
        #expect(try text(Maps(), includesInitialValues: true).contains(#""texts":{},"colours":{}"#))
    }

    @Test func namesOfBothSpellingsAreRead() throws {
        #expect(try parse(#"{"int32_value":1,"stringValue":"x"}"#) == Scalars(int32Value: 1, stringValue: "x"))
        #expect(error(#"{"int32_value":1,"int32Value":2}"#, as: Scalars.self)?.reason == .duplicateField)
        #expect(error(#"{"int32Value":1,"int32Value":2}"#, as: Scalars.self)?.reason == .duplicateField)
        #expect(error(#"{"text":"","number":1}"#, as: Choices.self)?.reason == .duplicateField)
        #expect(try parse(#"{"text":null,"number":1}"#) == Choices(choice: .number(1)))
    }

    @Test func unknownFieldsAreRefusedOrIgnored() throws {
        let json = #"{"int32Value":1,"other":[{"a":"\u00e9"},-1.5e3,true,null],"colour":"MAUVE"}"#
        #expect(error(json, as: Scalars.self) == JSONError(.unknownField, at: 24, field: "other"))
        let scalars: Scalars = try mapping.message(from: [UInt8](json.utf8), ignoresUnknownFields: true)
        #expect(scalars == Scalars(int32Value: 1))
        let list = [UInt8](#"{"colour":["COLOUR_RED","MAUVE",-1,"COLOUR_VERDANT"]}"#.utf8)
        let colours: Repeateds = try mapping.message(from: list, ignoresUnknownFields: true)
        #expect(colours.colour == [.red, .infrared, .green])
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("1e2", 100), ("1.0", 1), ("120e-1", 12), ("\"7\"", 7), ("\"-1e1\"", -10),
            ("0.0001e4", 1),
            ("2147483647", .max), ("-2147483648.000", .min), ("0e99999999999999999999", 0),
        ] as [(String, Int32)])
    func integersAreReadFromEveryNotation(_ json: String, _ value: Int32) throws {
        #expect(try parse(#"{"int32Value":\#(json)}"#) == Scalars(int32Value: value))
    }

    @Test(arguments: [
        "2147483648", "-2147483649", "1.5", "1e10", "1e-1", "\"\"", "\" 1\"", "\"1 \"", "\"0x1\"", "true", "[1]", "{}",
        "\"+1\"", "\"01\"", "\"1e\"", "1e99999999999999999999",
    ])
    func fractionsAndOverflowsAreNoIntegers(_ json: String) {
        #expect(error(#"{"int32Value":\#(json)}"#, as: Scalars.self) != nil)
    }

    @Test func integersAreExact() throws {
        #expect(try parse(#"{"int64Value":9223372036854775807.0}"#) == Scalars(int64Value: .max))
        #expect(try parse(#"{"uint64Value":18446744073709551615e0}"#) == Scalars(uint64Value: .max))
        #expect(error(#"{"int64Value":9223372036854775808.0}"#, as: Scalars.self) != nil)
        #expect(error(#"{"uint64Value":-1}"#, as: Scalars.self) != nil)
    }

    @Test func floatsMapWithTheirSpecialValues() throws {
        #expect(try parse(#"{"doubleValue":"NaN"}"#, as: Scalars.self).doubleValue.isNaN)
        #expect(try parse(#"{"floatValue":"-Infinity"}"#, as: Scalars.self).floatValue == -.infinity)
        #expect(try text(Scalars(doubleValue: 1e21)) == #"{"doubleValue":1e+21}"#)
        #expect(try text(Scalars(doubleValue: -0.0)) == #"{"doubleValue":-0}"#)
        #expect(try parse(#"{"doubleValue":-0}"#, as: Scalars.self).doubleValue.sign == .minus)
        for json in ["1e309", "-1e309", "NaN", "\"nan\"", "\"inf\"", "\"0x1p3\"", "\"1 \""] {
            #expect(error(#"{"doubleValue":\#(json)}"#, as: Scalars.self) != nil, "\(json)")
        }
        #expect(error(#"{"floatValue":3.5e38}"#, as: Scalars.self)?.reason == .invalidValue)
    }

    @Test func stringsMapWithTheirEscapes() throws {
        let json = #"{"stringValue":"\"\\\/\b\f\n\r\t\u0001\u00E9\ud83e\udD16\u2028"}"#
        let value = "\"\\/\u{8}\u{c}\n\r\t\u{1}é🤖\u{2028}"
        #expect(try parse(json) == Scalars(stringValue: value))
        #expect(try parse(text(Scalars(stringValue: value))) == Scalars(stringValue: value))
        #expect(try text(Scalars(stringValue: "\u{1}\"\n")) == #"{"stringValue":"\u0001\"\n"}"#)
        for bad in [#"\x"#, #"\u12"#, #"\ud800"#, #"\ud800\u0041"#, #"\udc00"#, #"\u12G4"#, "\n", "\u{0}", "\\"] {
            #expect(error(#"{"stringValue":"\#(bad)"}"#, as: Scalars.self) != nil, "\(bad)")
        }
        #expect(throws: JSONError.self) {
            let text: [UInt8] = [UInt8](#"{"stringValue":""#.utf8) + [0xC0, 0x80] + [UInt8](#""}"#.utf8)
            _ = try mapping.message(Scalars.self, from: text)
        }
    }

    @Test func bytesAreReadFromBothBase64Alphabets() throws {
        for json in ["+/8=", "-_8", "+/8", "-_8="] {
            #expect(try parse(#"{"bytesValue":"\#(json)"}"#) == Scalars(bytesValue: [0xFB, 0xFF]), "\(json)")
        }
        for bad in ["A", "AAAAA", "A===", "AA=", "AA=A", "A A=", "%%%%"] {
            #expect(error(#"{"bytesValue":"\#(bad)"}"#, as: Scalars.self)?.reason == .invalidValue, "\(bad)")
        }
    }

    @Test func nullIsTheInitialValueOfFieldsOnly() throws {
        #expect(try parse(#"{"int32Value":null,"stringValue":null,"scalars":null}"#) == Optionals())
        #expect(error(#"{"int32Value":[1,null]}"#, as: Repeateds.self) != nil)
        #expect(error(#"{"texts":{"a":null}}"#, as: Maps.self) != nil)
        #expect(error("null", as: Scalars.self)?.reason == .syntax)
    }

    @Test func malformedMapKeysAreRefused() throws {
        #expect(try parse(#"{"colours":{"-1":"COLOUR_RED","2":0}}"#) == Maps(colours: [-1: .red, 2: .unspecified]))
        for json in [#"{"colours":{"x":0}}"#, #"{"colours":{"":0}}"#, #"{"blobs":{"True":""}}"#, #"{"colours":{1:0}}"#]
        {
            #expect(error(json, as: Maps.self) != nil, "\(json)")
        }
    }

    @Test(arguments: [
        "", "{", "}", "{}}", "{} {}", #"{"a"}"#, #"{"int32Value":1,}"#, #"{,}"#, #"{"int32Value" 1}"#, "[]", "1", "\"",
        #"{"int32Value":01}"#, #"{"int32Value":1.}"#, #"{"int32Value":.5}"#, #"{"int32Value":+1}"#,
        #"{'int32Value':1}"#,
        #"{"boolValue":True}"#, #"{"boolValue":1}"#, #"{"boolValue":"true"}"#, #"{int32Value:1}"#, "{}\u{0}",
        #"{"stringValue":1}"#, #"{"int32Value":1 2}"#, "{\u{A0}}",
    ])
    func malformedJSONIsRefused(_ json: String) {
        #expect(error(json, as: Scalars.self) != nil)
    }

    @Test func whiteSpaceBetweenTokensIsIgnored() throws {
        #expect(try parse(" {\n\t\"int32Value\" :\r 1 } \n") == Scalars(int32Value: 1))
    }

    @Test func jsonNestedTooDeepIsRefused() throws {
        func trees(_ depth: Int) -> String {
            String(repeating: #"{"left":"#, count: depth) + "{}" + String(repeating: "}", count: depth)
        }
        #expect(error(trees(99), as: Tree.self) == nil)
        #expect(error(trees(100), as: Tree.self)?.reason == .tooDeep)
        #expect(error(String(repeating: #"{"left":"#, count: 50_000), as: Tree.self)?.reason == .tooDeep)
        var tree = Tree()
        for _ in 0..<99 { tree = Tree(left: tree) }
        #expect(try parse(text(tree)) == tree)
    }

    /// Bytes that the encoder does not write, but that an `Any` may contain.
    @Test func mergingWhileWriting() throws {
        func json(_ bytes: [UInt8], _ type: any Message.Type) throws -> String {
            String(decoding: try mapping.text(encoded: bytes, of: type.fullName), as: UTF8.self)
        }
        #expect(try json([0x18, 1, 0x18, 2], Scalars.self) == #"{"int32Value":2}"#)
        #expect(try json([0x18, 0], Scalars.self) == "{}")
        #expect(
            try json([0x8A, 1, 2, 0x18, 1, 0x8A, 1, 2, 0x20, 2], Optionals.self)
                == #"{"scalars":{"int32Value":1,"int64Value":"2"}}"#)
        #expect(try json([0x12, 1, 0x61, 0x18, 7], Choices.self) == #"{"number":7}"#)
        #expect(try json([0x18, 1, 0x1A, 2, 2, 3], Repeateds.self) == #"{"int32Value":[1,2,3]}"#)
        #expect(
            try json([0x12, 4, 8, 1, 16, 1, 0x12, 4, 8, 1, 16, 2], Maps.self) == #"{"colours":{"1":"COLOUR_GREEN"}}"#)
        #expect(try json([0x0A, 0], Maps.self) == #"{"texts":{"":""}}"#)
        #expect(throws: JSONError.self) { try json([0x72, 1, 0xFF], Scalars.self) }
        #expect(throws: JSONError.self) { try json([0x18], Scalars.self) }
    }

    /// A prefix of JSON is never JSON: every one is refused, and none traps.
    @Test func truncatedJSONIsRefused() throws {
        let json = try mapping.text(Sample.repeateds)
        for count in 0..<json.count {
            #expect(throws: JSONError.self) { try mapping.message(Repeateds.self, from: [UInt8](json[..<count])) }
        }
    }
}
