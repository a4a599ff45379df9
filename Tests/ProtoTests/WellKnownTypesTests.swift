import Proto
import TestSupport
import Testing
import Wire

/// The JSON forms of the well-known types.
@Suite(.timeLimited) struct WellKnownTypesTests {
    private let mapping: JSONMapping

    init() throws {
        mapping = JSONMapping(schema: try Schema(ProtoFiles.all))
    }

    private func text(_ message: some Message) -> String? {
        (try? mapping.text(message)).map { String(decoding: $0, as: UTF8.self) }
    }

    private func parse<M: Message>(_ json: String, as type: M.Type = M.self) -> M? {
        try? mapping.message(from: [UInt8](json.utf8))
    }

    @Test(
        arguments: [
            (0, 0, "1970-01-01T00:00:00Z"), (-1, 500_000_000, "1969-12-31T23:59:59.500Z"),
            (951_782_400, 0, "2000-02-29T00:00:00Z"), (1_700_000_000, 1, "2023-11-14T22:13:20.000000001Z"),
            (1_700_000_000, 120_000, "2023-11-14T22:13:20.000120Z"), (-62_135_596_800, 0, "0001-01-01T00:00:00Z"),
            (253_402_300_799, 999_999_999, "9999-12-31T23:59:59.999999999Z"),
            (-2_203_891_200, 0, "1900-03-01T00:00:00Z"),
        ] as [(Int64, Int32, String)])
    func timestampsMapToRFC3339(_ seconds: Int64, _ nanos: Int32, _ json: String) {
        let timestamp = Timestamp(seconds: seconds, nanos: nanos)
        #expect(text(timestamp) == "\"\(json)\"")
        #expect(parse("\"\(json)\"") == timestamp)
    }

    @Test func timestampsWithOffsets() {
        #expect(parse("\"1970-01-01T01:30:00.5+01:30\"") == Timestamp(nanos: 500_000_000))
        #expect(parse("\"1969-12-31T19:00:00-05:00\"") == Timestamp())
        #expect(parse("\"0001-01-01T00:00:00+23:59\"", as: Timestamp.self) == nil)
    }

    @Test(arguments: [
        "", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01t00:00:00Z", "1970-01-01T00:00:00z", "1970-13-01T00:00:00Z",
        "1970-02-29T00:00:00Z", "1970-01-01T24:00:00Z", "1970-01-01T00:00:60Z", "1970-01-01T00:00:00.Z",
        "1970-01-01T00:00:00.1234567890Z", "1970-01-01T00:00:00Zx", "10000-01-01T00:00:00Z", "1970-1-01T00:00:00Z",
        "0000-01-01T00:00:00Z", "1970-01-01 00:00:00Z", "1970-01-01T00:00:00+1:00", "1970-01-00T00:00:00Z",
    ])
    func timestampsThatAreNone(_ json: String) {
        #expect(parse("\"\(json)\"", as: Timestamp.self) == nil)
    }

    @Test func timestampsBeyondTheCalendar() {
        #expect(text(Timestamp(seconds: 253_402_300_800)) == nil)
        #expect(text(Timestamp(seconds: .min)) == nil)
        #expect(text(Timestamp(nanos: -1)) == nil)
        #expect(text(Timestamp(nanos: 1_000_000_000)) == nil)
    }

    @Test func durationsMapToSeconds() {
        let cases: [(Int64, Int32, String)] = [
            (0, 0, "0s"), (1, 500_000_000, "1.500s"), (-1, -500_000_000, "-1.500s"), (0, -1, "-0.000000001s"),
            (315_576_000_000, 0, "315576000000s"), (3, 120_000, "3.000120s"),
        ]
        for (seconds, nanos, json) in cases {
            let duration = DurationMessage(seconds: seconds, nanos: nanos)
            #expect(text(duration) == "\"\(json)\"")
            #expect(parse("\"\(json)\"") == duration)
        }
        #expect(parse("\"1.5s\"") == DurationMessage(seconds: 1, nanos: 500_000_000))
        for json in ["1", "s", "+1s", "1.s", ".5s", "1 s", "315576000001s", "--1s", "1s ", "99999999999999999999s"] {
            #expect(parse("\"\(json)\"", as: DurationMessage.self) == nil, "\(json)")
        }
        #expect(text(DurationMessage(seconds: 1, nanos: -1)) == nil)
        #expect(text(DurationMessage(seconds: .max)) == nil)
    }

    @Test func fieldMasksMapToCamelCase() {
        let mask = FieldMask(paths: ["user_name", "a.b_c", "x2"])
        #expect(text(mask) == "\"userName,a.bC,x2\"")
        #expect(parse("\"userName,a.bC,x2\"") == mask)
        #expect(parse("\"\"") == FieldMask())
        #expect(parse("\"user_name\"", as: FieldMask.self) == nil)
        #expect(parse("\"a,,b\"", as: FieldMask.self) == nil)
        for path in ["userName", "a__b", "a_", "a_1", ""] { #expect(text(FieldMask(paths: [path])) == nil, "\(path)") }
    }

    @Test func dynamicValuesMapToAnyJSON() {
        let json = #"{"b":true,"l":[null,1.5,"x",[]],"n":null,"o":{"k":-0.25}}"#
        let value: Value? = parse(json)
        #expect(value.flatMap { text($0) } == json)
        let structure: Struct? = parse(json)
        #expect(structure?.fields["o"]?.kind == .structValue(Struct(fields: ["k": Value(kind: .numberValue(-0.25))])))
        #expect(structure?.fields["n"]?.kind == .nullValue(.nullValue))
        #expect(text(Value()) == nil)
        #expect(text(Value(kind: .numberValue(.nan))) == nil)
        #expect(text(Value(kind: .numberValue(.infinity))) == nil)
        #expect(parse("1e400", as: Value.self) == nil)
        #expect(parse("[1", as: Value.self) == nil)
        #expect(parse("[]", as: Struct.self) == nil)
        #expect(parse("{}", as: ListValue.self) == nil)
        #expect(parse(String(repeating: "[", count: 40_000), as: Value.self) == nil)
    }

    @Test func wrappersMapToTheirValues() {
        #expect(text(Int64Value(value: -5)) == "\"-5\"")
        #expect(parse("\"-5\"") == Int64Value(value: -5))
        #expect(parse("18446744073709551615") == UInt64Value(value: .max))
        #expect(text(StringValue(value: "a\"b")) == #""a\"b""#)
        #expect(text(BoolValue()) == "false")
        #expect(parse("true") == BoolValue(value: true))
        #expect(text(BytesValue(value: [0xFB, 0xEF])) == #""++8=""#)
        #expect(parse(#""--8""#) == BytesValue(value: [0xFB, 0xEF]))
        #expect(text(DoubleValue(value: .nan)) == "\"NaN\"")
        #expect(parse("\"-Infinity\"") == FloatValue(value: -.infinity))
        #expect(parse("null", as: BoolValue.self) == nil)
    }

    @Test func anyOfOurMessages() throws {
        let site = Site(siteID: 7, name: "hall", createdAt: Timestamp(seconds: 1))
        let any = AnyMessage(typeURL: "type.googleapis.com/archebase.auth.v1.Site", value: site.encoded())
        let json =
            #"{"@type":"type.googleapis.com/archebase.auth.v1.Site","siteId":"7","name":"hall","#
            + #""createdAt":"1970-01-01T00:00:01Z"}"#
        #expect(text(any) == json)
        #expect(parse(json) == any)
        let last = #"{"siteId":7,"name":"hall","createdAt":"1970-01-01T00:00:01Z","@type":"x/archebase.auth.v1.Site"}"#
        let parsed: AnyMessage? = parse(last)
        #expect(try Site(decoding: try #require(parsed).value) == site)
    }

    @Test func anyOfWellKnownTypes() {
        let inner = DurationMessage(seconds: 2)
        let any = AnyMessage(typeURL: "t/google.protobuf.Duration", value: inner.encoded())
        let json = #"{"@type":"t/google.protobuf.Duration","value":"2s"}"#
        #expect(text(any) == json)
        #expect(parse(json) == any)
        let nested = AnyMessage(typeURL: "t/google.protobuf.Any", value: any.encoded())
        #expect(text(nested) == #"{"@type":"t/google.protobuf.Any","value":"# + json + "}")
        #expect(parse(text(nested) ?? "") == nested)
        #expect(text(AnyMessage()) == "{}")
        #expect(parse("{}") == AnyMessage())
        for json in [
            #"{"@type":"t/unknown.Type"}"#, #"{"value":"2s"}"#, #"{"@type":"noslash","value":1}"#, #"{"@type":5}"#,
            #"{"@type":"t/google.protobuf.Duration"}"#, #"{"@type":"t/google.protobuf.Duration","value":"2s","x":1}"#,
            #"{"@type":"t/archebase.auth.v1.Site","@type":"t/archebase.auth.v1.Site"}"#,
        ] { #expect(parse(json, as: AnyMessage.self) == nil, "\(json)") }
    }
}
