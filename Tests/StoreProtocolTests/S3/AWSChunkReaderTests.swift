import Basics
import TestSupport
import Testing

@testable import StoreProtocol

@Suite(.timeLimited) struct AWSChunkReaderTests {
    /// Decodes `body`, which arrives in pieces of `piece` bytes.
    private func read(
        _ body: String, length: Int64, trailer: String? = nil, piece: Int = .max
    ) throws -> (text: String, checksum: [UInt8]?) {
        let checks = BodyChecks(algorithm: trailer.flatMap(ChecksumAlgorithm.init(field:)))
        let reader = AWSChunkReader(length: length, trailer: trailer, checks: checks)
        var out: [UInt8] = []
        var rest = Array(body.utf8)[...]
        while !rest.isEmpty {
            try rest.prefix(piece).withUnsafeBytes { bytes in
                try reader.read(bytes) { out.append(contentsOf: $0) }
            }
            rest = rest.dropFirst(piece)
        }
        try reader.finish()
        return (String(decoding: out, as: UTF8.self), checks.checksum)
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func takesChunksApart(piece: Int) throws {
        let body =
            "5\r\nhello\r\n0b;chunk-signature=ff\r\n, \r\nworld\r\n\r\n0\r\nX-Amz-Checksum-CRC32: AAAAAQ==\r\n\r\n"
        let read = try read(body, length: 16, trailer: "x-amz-checksum-crc32", piece: piece)
        #expect(read.text == "hello, \r\nworld\r\n")
        #expect(read.checksum == [0, 0, 0, 1])
        #expect(try self.read("0\r\n\r\n", length: 0, piece: piece).text.isEmpty)
    }

    /// No input causes a trap or yields more bytes than declared.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func survivesChangedBodies(seed: UInt64) {
        let body = Array("5\r\nhello\r\n0b;x=y\r\n, \r\nworld\r\n\r\n0\r\nx-amz-checksum-crc32:AAAAAQ==\r\n\r\n".utf8)
        for (round, place) in content(400, seed: seed).enumerated() {
            var changed = body
            changed[Int(place) % body.count] = place ^ UInt8(truncatingIfNeeded: round)
            let checks = BodyChecks(algorithm: .crc32)
            let reader = AWSChunkReader(length: 16, trailer: "x-amz-checksum-crc32", checks: checks)
            var count = 0
            changed.withUnsafeBytes { bytes in
                try? reader.read(bytes) { count += $0.count }
                try? reader.finish()
            }
            #expect(count <= 16)
        }
    }

    private static let malformed: [(String, Int64, StoreError.Code)] = [
        ("", 0, .incompleteBody),
        ("0\r\n", 0, .incompleteBody),
        ("5\r\nhello\r\n", 5, .incompleteBody),
        ("5\r\nhello\r\n0\r\n\r\n", 6, .incompleteBody),
        ("5\r\nhello\r\n0\r\n\r\n", 4, .incompleteBody),
        ("5\r\nhello\r\n0\r\n\r\nmore\r\n", 5, .incompleteBody),
        ("5\r\nhello\r\n0\r\n\r\nmore", 5, .incompleteBody),
        ("5\r\nhellos\r\n0\r\n\r\n", 5, .incompleteBody),
        ("5\nhello\r\n0\r\n\r\n", 5, .incompleteBody),
        ("+5\r\nhello\r\n0\r\n\r\n", 5, .incompleteBody),
        ("-5\r\nhello\r\n0\r\n\r\n", 5, .incompleteBody),
        ("x\r\nhello\r\n0\r\n\r\n", 5, .incompleteBody),
        ("\r\nhello\r\n0\r\n\r\n", 5, .incompleteBody),
        ("ffffffffffffffff\r\nhello", 5, .incompleteBody),
        ("00000000000000005\r\nhello\r\n0\r\n\r\n", 5, .incompleteBody),
        (String(repeating: "0", count: 4096), 5, .incompleteBody),
        ("5\r\nhello\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n", 5, .malformedTrailer),
    ]

    @Test(arguments: malformed)
    func refusesOtherBodies(body: String, length: Int64, code: StoreError.Code) {
        for piece in [1, .max] {
            #expect { try read(body, length: length, piece: piece) } throws: { ($0 as? StoreError)?.code == code }
        }
    }

    @Test(arguments: [
        "", "x-amz-checksum-crc32:AAAA\r\n", "x-amz-checksum-sha1:AAAAAA==\r\n", "x-amz-checksum-crc32\r\n",
        "x-amz-checksum-crc32:AAAAAA==\r\nx-amz-checksum-crc32:AAAAAA==\r\n", "x-amz-checksum-crc32:*\r\n",
    ])
    func refusesATrailerThatWasNotAnnounced(trailer: String) {
        #expect { try read("0\r\n\(trailer)\r\n", length: 0, trailer: "x-amz-checksum-crc32") } throws: {
            ($0 as? StoreError)?.code == .malformedTrailer
        }
    }
}
