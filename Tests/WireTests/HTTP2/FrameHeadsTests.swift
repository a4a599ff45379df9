import TestSupport
import Testing
import Wire

@testable import HTTP2

@Suite(.timeLimited) struct FrameHeadsTests {
    /// A preface of three bytes; DATA of two on stream 1, an empty RST_STREAM on 3 with the reserved bit, DATA of 256.
    private static let bytes: [UInt8] =
        [1, 2, 3] + [0, 0, 2, 0, 1, 0, 0, 0, 1, 9, 9] + [0, 0, 0, 3, 0, 0x80, 0, 0, 3]
        + [0, 1, 0, 0, 0, 0, 0, 1, 1] + [UInt8](repeating: 9, count: 256) + [0, 0, 0, 4]
    private static let heads = [
        FrameHeads.Head(type: 0, stream: 1, start: 3), FrameHeads.Head(type: 3, stream: 3, start: 14),
        FrameHeads.Head(type: 0, stream: 257, start: 23),
    ]

    /// Pieces of any length give the same headers at the same places.
    @Test(arguments: 1...bytes.count)
    func frameHeadsAreFoundHoweverBytesAreCut(size: Int) {
        var scanner = FrameHeads(preface: 3)
        var found: [FrameHeads.Head] = []
        for start in stride(from: 0, to: Self.bytes.count, by: size) {
            Array(Self.bytes[start..<min(start + size, Self.bytes.count)]).withUnsafeBytes { piece in
                var offset = 0
                while let head = scanner.next(in: piece, at: &offset) {
                    found.append(FrameHeads.Head(type: head.type, stream: head.stream, start: start + head.start))
                }
                #expect(offset == piece.count)
            }
        }
        #expect(found == Self.heads)
    }
}
