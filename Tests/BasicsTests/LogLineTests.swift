import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Basics

@Suite(.timeLimited) struct LogLineTests {
    private static let time = UnixTime(microseconds: 1_763_791_200_000_123)

    private func line(_ text: String, as form: LogLine.Form) -> String {
        var written = ""
        LogLine.write(.info, "call", at: Self.time, as: form) { line in
            line.add("method", "/a.B/C")
            line.add("said", text)
            line.add("pieces") { line in
                line.append(text)
                line.append(":")
                line.append(7)
            }
            line.add("bytes_in", 12)
            line.add("duration_ms", nanoseconds: 1_234_567)
            line.add("nothing", String?.none)
        } to: {
            written = String(decoding: $0, as: UTF8.self)
        }
        return written
    }

    @Test func fieldsAsJSON() {
        #expect(
            line("a b", as: .json) == """
                {"time":"2025-11-22T06:00:00.000123Z","level":"info","event":"call","method":"/a.B/C","said":"a b",\
                "pieces":"a b:7","bytes_in":12,"duration_ms":1.234}\n
                """)
    }

    @Test func fieldsForPeople() {
        #expect(
            line("a b", as: .text) == """
                2025-11-22T06:00:00.000123Z info    call method=/a.B/C said="a b" pieces="a b:7" bytes_in=12 \
                duration_ms=1.234\n
                """)
    }

    /// Line breaks, escape sequences of terminals, C1 controls, characters that change the direction of text, and quotation marks,
    /// at each of the eight positions that are compared together.
    @Test(
        arguments: [
            "a\nb", "\u{1B}[2J", "\u{9B}2J", "\u{202E}x", "\u{2028}", "\u{0}", "\u{7F}", "a\"b", "a\\b", "a=b", "", "é",
            "\u{85}", "\u{1F}",
        ], 0..<9)
    func nothingBreaksOutOfItsLine(text: String, before: Int) throws {
        let text = String(repeating: "~", count: before) + text + " !"
        for form in [LogLine.Form.json, .text] {
            let written = line(text, as: form)
            #expect(written.dropLast().unicodeScalars.allSatisfy { !$0.isUnprintable } && written.hasSuffix("\n"))
        }
        let json = try JSONSerialization.jsonObject(with: Data(line(text, as: .json).utf8)) as? [String: Any]
        #expect(json?["said"] as? String == text)
        #expect(json?["pieces"] as? String == "\(text):7")
    }

    @Test(arguments: [500, 900, 1000, 1023, 1024, 1025, 5000], ["a", "\u{1}"])
    func linesLongerThanTheirMemoryAreWhole(length: Int, character: String) throws {
        let text = String(repeating: character, count: length)
        let json = try JSONSerialization.jsonObject(with: Data(line(text, as: .json).utf8)) as? [String: Any]
        #expect(json?["said"] as? String == text)
        #expect(json?["pieces"] as? String == "\(text):7")
        #expect(json?["bytes_in"] as? Int == 12)
    }

    @Test(arguments: [0, 7, 10, -1, Int64.max, Int64.min])
    func numbersAreDecimal(number: Int64) {
        let lines = Lock<[String]>([])
        let log = Logger { line in lines.withLock { $0.append(line) } }.scoped { $0.add("n", number) }
        log.write("x")
        #expect(lines.withLock { $0 } == ["info    x n=\(number)"])
    }
}

@Suite(.timeLimited) struct LoggerTests {
    @Test func aScopesFieldsStandInEachOfItsLines() {
        let lines = Lock<[String]>([])
        let log = Logger { line in lines.withLock { $0.append(line) } }
        let request = log.scoped { $0.add("request_id", "r1") }
        request.write("first", ["a": "b c"])
        request.scoped { $0.add("part", 2) }.write("second", level: .error)
        log.write("third")
        #expect(
            lines.withLock { $0 } == [
                "info    first request_id=r1 a=\"b c\"", "error   second request_id=r1 part=2", "info    third",
            ])
    }

    @Test func discardingLoggerAsksForNoFields() {
        Logger.discarding.scoped { _ in Issue.record("nobody reads this") }.write("x")
    }
}
