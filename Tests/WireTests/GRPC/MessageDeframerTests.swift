import TestSupport
import Testing
import Wire

@testable import GRPCWire

@Suite(.timeLimited) struct MessageDeframerTests {
    private func frame(_ message: [UInt8], flag: UInt8 = 0) -> [UInt8] {
        var frame = [UInt8](repeating: 0, count: 5) + message
        MessagePrefix.write(to: &frame)
        frame[0] = flag
        return frame
    }

    /// Feeds `bytes` in pieces of `size`, and returns the resulting messages.
    private func messages(
        _ bytes: [UInt8], pieces size: Int, limit: Int = 1 << 20
    ) throws -> (messages: [[UInt8]], isWithin: Bool) {
        var deframer = MessageDeframer(limit: limit)
        var messages: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + size)
            try bytes[start..<end].withUnsafeBytes { piece in
                try deframer.receive(piece) { message, _ in messages.append([UInt8](message)) }
            }
            start = end
        }
        return (messages, deframer.isWithinMessage)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 11, 100, 1000])
    func messagesComeOutHoweverTheyAreCut(pieces: Int) throws {
        let sent: [[UInt8]] = [[], [1], Array(repeating: 7, count: 300), [], [9, 9]]
        let result = try messages(sent.flatMap { frame($0) }, pieces: pieces)
        #expect(result.messages == sent)
        #expect(!result.isWithin)
    }

    @Test(arguments: 1..<12)
    func anIncompleteMessageIsNoticed(cut: Int) throws {
        let bytes = frame([1, 2, 3, 4, 5, 6, 7])
        let result = try messages(Array(bytes.prefix(cut)), pieces: 3)
        #expect(result.messages.isEmpty)
        #expect(result.isWithin == (cut < bytes.count))
    }

    /// The length is refused as soon as the prefix is complete, before any byte of the message.
    @Test(arguments: [1, 5])
    func aLengthOverTheLimitIsRefused(pieces: Int) throws {
        #expect(throws: MessageDeframer.Failure.tooLong(claimed: 0xFFFF_FFFF, limit: 10)) {
            try messages([0, 0xFF, 0xFF, 0xFF, 0xFF], pieces: pieces, limit: 10)
        }
        let longest = Array(repeating: UInt8(0), count: 10)
        #expect(try messages(frame(longest), pieces: pieces, limit: 10).messages == [longest])
    }

    @Test func anUnknownFlagIsRefused() {
        #expect(throws: MessageDeframer.Failure.badFlag(2)) { try messages(frame([1], flag: 2), pieces: 100) }
    }
}
