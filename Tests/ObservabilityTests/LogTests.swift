import Basics
import Foundation
import TestSupport
import Testing

@testable import Observability

@Suite(.timeLimited) struct LogLineTests {
    private static let time = UnixTime(microseconds: 1_763_791_200_000_123)

    private func line(_ text: String) -> LogLine {
        var line = LogLine(.info, "call")
        line.add("method", "/a.B/C")
        line.add("said", text)
        line.add("bytes_in", 12)
        line.add("duration_ms", nanoseconds: 1_234_567)
        line.add("nothing", String?.none)
        return line
    }

    @Test func lineIsWrittenAsJSON() {
        #expect(
            String(decoding: line("a b").json(at: Self.time), as: UTF8.self) == """
                {"time":"2025-11-22T06:00:00.000123Z","level":"info","event":"call","method":"/a.B/C","said":"a b",\
                "bytes_in":12,"duration_ms":1.234}\n
                """)
    }

    @Test func lineIsWrittenAsText() {
        #expect(
            String(decoding: line("a b").text(at: Self.time), as: UTF8.self) == """
                2025-11-22T06:00:00.000123Z info    call method=/a.B/C said="a b" bytes_in=12 duration_ms=1.234\n
                """)
    }

    /// Line breaks, a terminal's escape sequences, C1 controls, what turns the direction of text, quotation marks.
    @Test(arguments: [
        "a\nb", "\u{1B}[2J", "\u{9B}2J", "\u{202E}x", "\u{2028}", "\u{0}", "\u{7F}", "a\"b", "a\\b", "a=b", "", "é",
        "\u{85}",
    ])
    func nothingBreaksOutOfItsLine(text: String) throws {
        for bytes in [line(text).json(at: Self.time), line(text).text(at: Self.time)] {
            let written = String(decoding: bytes, as: UTF8.self)
            #expect(written.dropLast().unicodeScalars.allSatisfy { !$0.isUnprintable } && written.hasSuffix("\n"))
        }
        let json = try JSONSerialization.jsonObject(with: Data(line(text).json(at: Self.time))) as? [String: Any]
        #expect(json?["said"] as? String == text)
    }
}

@Suite(.timeLimited) struct LogWriterTests {
    /// A pipe's ends.
    private static func pipe() throws -> (reader: FileHandle, writer: FileHandle) {
        let pipe = Pipe()
        return (pipe.fileHandleForReading, pipe.fileHandleForWriting)
    }

    @Sendable private static func lost(count: Int) -> [UInt8] { Array("\(count) lost\n".utf8) }

    @Test func linesKeepTheirOrder() throws {
        let (reader, end) = try Self.pipe()
        let writer = LogWriter(descriptor: end.fileDescriptor, lost: Self.lost)
        for number in 0..<100 { writer.append(Array("\(number)\n".utf8)) }
        writer.drain()
        try end.close()
        let text = String(decoding: try reader.readToEnd() ?? Data(), as: UTF8.self)
        #expect(text == (0..<100).map { "\($0)\n" }.joined())
    }

    @Test func linesBeyondTheCapacityAreDroppedAndCounted() throws {
        let (reader, end) = try Self.pipe()
        let writer = LogWriter(descriptor: end.fileDescriptor, capacity: 10, lost: Self.lost)
        for _ in 0..<3 { writer.append(Array("12345\n".utf8)) }
        #expect(writer.dropped == 2)
        writer.drain()
        writer.append(Array("after\n".utf8))
        writer.drain()
        try end.close()
        let lines = String(decoding: try reader.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n")
        #expect(lines == ["12345", "2 lost", "after"])
    }

    @Test func readerThatStallsKeepsNoWriterWaiting() throws {
        let (reader, end) = try Self.pipe()
        let writer = LogWriter(descriptor: end.fileDescriptor, lost: Self.lost)
        // More than the pipe takes.
        writer.append([UInt8](repeating: UInt8(ascii: "a"), count: 1 << 18))
        writer.flush(limit: .milliseconds(1))
        var received = 0
        while received < 1 << 18 { received += reader.availableData.count }
        #expect(received == 1 << 18)
    }

    @Test func itsThreadWritesByItself() throws {
        let (reader, end) = try Self.pipe()
        let writer = LogWriter(descriptor: end.fileDescriptor, lost: Self.lost)
        writer.start()
        for number in 0..<3 {
            writer.append(Array("line \(number)\n".utf8))
            // Waits until it is there.
            #expect(reader.availableData == Data("line \(number)\n".utf8))
        }
        withExtendedLifetime(end) {}
    }
}
