import CMD5
import TestSupport
import Testing

@testable import Basics
@testable import Crypto

@Suite(.timeLimited) struct RunningMD5Tests {
    /// The numbers of lanes that choose the instructions, see `md5.h`; those that the CPU does not have are reported.
    private static let instructions: [Int32] = [1, 4, 8, 16].filter { lanes in
        if lanes > cmd5_lanes() { print("MD5 with \(lanes) lanes was not tested: the CPU has \(cmd5_lanes())") }
        return lanes <= cmd5_lanes()
    }

    /// Returns the digests of messages, which are added in the pieces that the arrays have.
    private func digests(_ messages: [[ArraySlice<UInt8>]], lanes: Int32) -> [[UInt8]] {
        var all = messages.map { _ in RunningMD5() }
        for turn in 0..<(messages.map(\.count).max() ?? 0) {
            // Each piece in memory of its own, which a sanitizer guards.
            let buffers = messages.map { pieces in
                let piece = turn < pieces.count ? pieces[turn] : []
                let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count, alignment: 1)
                buffer.copyBytes(from: piece)
                return UnsafeRawBufferPointer(buffer)
            }
            RunningMD5.update(&all, buffers, lanes: lanes)
            for buffer in buffers { buffer.deallocate() }
        }
        return all.map { $0.finalize() }
    }

    /// RFC 1321, appendix A.5.
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"),
        ("a", "0cc175b9c0f1b6a831c399e269772661"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"),
        ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
        ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"),
        (String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"),
    ])
    func digestsEqualThoseOfTheStandard(text: String, expected: String) {
        var md5 = RunningMD5()
        Array(text.utf8).withUnsafeBytes { md5.update($0) }
        #expect(Hex.lower(md5.finalize()) == expected)
        // A digest can be taken several times, and before further bytes.
        #expect(Hex.lower(md5.finalize()) == expected)
        Array("more".utf8).withUnsafeBytes { md5.update($0) }
        #expect(md5.finalize() == Digest.md5(Array((text + "more").utf8)))
    }

    @Test func messageContinuesFromItsState() throws {
        let bytes = content(400)
        for length in 0...bytes.count {
            var first = RunningMD5()
            bytes[..<length].withUnsafeBytes { first.update($0) }
            #expect(first.state.count == 16 + length % 64)
            var second = try #require(RunningMD5(state: first.state, length: Int64(length)))
            #expect(second == first && second.finalize() == first.finalize())
            bytes[length...].withUnsafeBytes { second.update($0) }
            #expect(second.finalize() == Digest.md5(bytes))
            #expect((second == first) == (length == bytes.count))
            #expect(RunningMD5(state: first.state, length: Int64(length) + 1) == nil)
        }
        #expect(RunningMD5(state: [], length: -1) == nil)
    }

    /// Compared with OpenSSL: each length in each lane, beside shorter and longer ones.
    @Test(arguments: instructions)
    func eachLengthHasItsDigestInEachLane(lanes: Int32) {
        let bytes = content(400)
        let expected = (0...bytes.count).map { Digest.md5(Array(bytes[..<$0])) }
        let count = Int(cmd5_messages(lanes)) + 1
        for first in 0...bytes.count {
            let lengths = (0..<count).map { (first + 37 * $0) % (bytes.count + 1) }
            #expect(digests(lengths.map { [bytes[..<$0]] }, lanes: lanes) == lengths.map { expected[$0] })
        }
    }

    @Test(arguments: instructions)
    func lengthsAroundAMebibyteHaveTheirDigestsInEachLane(lanes: Int32) {
        let bytes = content(1 << 20 + 1)
        let expected = (0...2).map { Digest.md5(Array(bytes.dropLast(2 - $0))) }
        for turn in 0...2 {
            let choices = (0..<Int(cmd5_messages(lanes))).map { ($0 + turn) % 3 }
            #expect(
                digests(choices.map { [bytes.dropLast(2 - $0)] }, lanes: lanes) == choices.map { expected[$0] })
        }
    }

    /// Compared with OpenSSL: random numbers of messages, lengths and pieces.
    @Test(arguments: instructions)
    func randomPiecesHaveTheDigestsOfTheWhole(lanes: Int32) {
        var random = SeededGenerator(seed: UInt64(lanes))
        for _ in 0..<400 {
            let messages = (0..<Int.random(in: 1...40, using: &random)).map { _ in
                content(.random(in: 0...[70, 300, 3000][.random(in: 0...2, using: &random)], using: &random))
            }
            let pieces = messages.map { message in
                var rest = message[...]
                var pieces: [ArraySlice<UInt8>] = []
                while !rest.isEmpty {
                    pieces.append(rest.prefix(.random(in: 0...rest.count, using: &random)))
                    rest = rest.dropFirst(pieces[pieces.count - 1].count)
                }
                return pieces
            }
            #expect(digests(pieces, lanes: lanes) == messages.map(Digest.md5))
        }
    }
}
