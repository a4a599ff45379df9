import TestSupport
import Testing
import Wire

@testable import GRPCWire

@Suite(.timeLimited) struct GRPCTimeoutTests {
    private func parse(_ text: String) -> Int64? {
        var text = text
        return text.withUTF8 { GRPCTimeout.parse($0) }
    }

    @Test(arguments: [
        ("1n", 1), ("20u", 20_000), ("100m", 100_000_000), ("5S", 5_000_000_000), ("2M", 120_000_000_000),
        ("1H", 3_600_000_000_000), ("99999999n", 99_999_999), ("0S", 0),
    ])
    func validTimeoutIsParsed(text: String, nanoseconds: Int64) {
        #expect(parse(text) == nanoseconds)
    }

    @Test(arguments: ["", "1", "n", "123456789n", "1s", "-1S", "1.5S", " 1S", "1S ", "１S"])
    func malformedTimeoutIsRefused(text: String) {
        #expect(parse(text) == nil)
    }

    @Test func timeoutBeyondInt64IsTheMaximum() {
        #expect(parse("99999999H") == .max)
    }

    @Test(arguments: [0, 1, 99_999_999, 100_000_000, 123_456_789_012, Int64.max])
    func formattedTimeoutIsNotShorter(nanoseconds: Int64) throws {
        let text = GRPCTimeout.format(nanoseconds: nanoseconds)
        let parsed = try #require(parse(text))
        #expect(parsed >= nanoseconds)
    }
}

@Suite(.timeLimited) struct PercentEncodingTests {
    @Test func reservedAndNonASCIIBytesAreEncoded() {
        #expect(String(decoding: PercentEncoding.encode("50% ü\n~"), as: UTF8.self) == "50%25 %C3%BC%0A~")
        #expect(String(decoding: PercentEncoding.encode("  a b  "), as: UTF8.self) == "%20 a b %20")
        #expect(String(decoding: PercentEncoding.encode(" "), as: UTF8.self) == "%20")
    }

    @Test(arguments: ["", "plain", "100%", "a\u{0}b", "日本語", "%41"])
    func encodedTextDecodesToItself(text: String) {
        #expect(PercentEncoding.decode(PercentEncoding.encode(text)) == text)
    }

    @Test(arguments: [("%", "%"), ("%4", "%4"), ("%zz", "%zz"), ("%41%", "A%")])
    func brokenEscapesStand(encoded: String, decoded: String) {
        #expect(PercentEncoding.decode(Array(encoded.utf8)) == decoded)
    }
}

@Suite(.timeLimited) struct MetadataTests {
    @Test func valuesByName() {
        let metadata = Metadata([("a", "1"), ("ab", ""), ("a", "2")])
        #expect(metadata["a"] == "1")
        #expect(metadata.values("a") == ["1", "2"])
        #expect(metadata["ab"] == "")
        #expect(metadata["b"] == nil)
        #expect(metadata.pairs.map(\.value) == ["1", "", "2"])
    }
}
