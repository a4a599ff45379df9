import Basics
import Foundation
import TestSupport
import Testing

@testable import Observability

@Suite(.timeLimited) struct LogWriterTests {
    /// Returns the ends of a new pipe.
    private static func pipe() throws -> (reader: FileHandle, writer: FileHandle) {
        let pipe = Pipe()
        return (pipe.fileHandleForReading, pipe.fileHandleForWriting)
    }

    @Sendable private static func lost(count: Int) -> [UInt8] { Array("\(count) lost\n".utf8) }

    @Test func linesKeepTheirOrder() throws {
        let (reader, end) = try Self.pipe()
        let writer = LogWriter(descriptor: end.fileDescriptor, lost: Self.lost)
        for number in 0..<100 { writer.append("\(number)\n") }
        writer.drain()
        try end.close()
        let text = String(decoding: try reader.readToEnd() ?? Data(), as: UTF8.self)
        #expect(text == (0..<100).map { "\($0)\n" }.joined())
    }

    @Test func excessLinesAreDroppedAndCounted() throws {
        let (reader, end) = try Self.pipe()
        let writer = LogWriter(descriptor: end.fileDescriptor, capacity: 10, lost: Self.lost)
        for _ in 0..<3 { writer.append("12345\n") }
        #expect(writer.dropped == 2)
        writer.drain()
        writer.append("after\n")
        writer.drain()
        try end.close()
        let lines = String(decoding: try reader.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n")
        #expect(lines == ["12345", "2 lost", "after"])
    }

    @Test func stalledReaderDelaysNoWriter() throws {
        let (reader, end) = try Self.pipe()
        let writer = LogWriter(descriptor: end.fileDescriptor, lost: Self.lost)
        // The text is longer than the pipe accepts.
        writer.append(String(repeating: "a", count: 1 << 18))
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
            writer.append("line \(number)\n")
            // Waits for the line.
            #expect(reader.availableData == Data("line \(number)\n".utf8))
        }
        withExtendedLifetime(end) {}
    }
}

extension LogWriter {
    fileprivate func append(_ text: String) { Array(text.utf8).withUnsafeBytes { append($0) } }
}
