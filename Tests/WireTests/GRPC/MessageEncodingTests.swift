import TestSupport
import Testing
import Wire

@testable import GRPCWire

@Suite(.timeLimited) struct MessageEncodingTests {
    private func compress(_ bytes: [UInt8], _ encoding: MessageEncoding) -> [UInt8] {
        bytes.withUnsafeBytes { encoding.compress($0) }
    }

    private func decompress(
        _ bytes: [UInt8], _ encoding: MessageEncoding, limit: Int = 1 << 24
    ) -> Result<[UInt8], MessageEncoding.Failure> {
        bytes.withUnsafeBytes { bytes in
            Result { () throws(MessageEncoding.Failure) in try encoding.decompress(bytes, limit: limit) }
        }
    }

    @Test(arguments: MessageEncoding.allCases, [0, 1, 100, 16_384, 100_000])
    func compressedMessageIsInflatedToItself(encoding: MessageEncoding, size: Int) {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
        #expect(decompress(compress(bytes, encoding), encoding) == .success(bytes))
    }

    /// The output of `gzip -n` for `hello`, which shows compatibility with the format.
    @Test func gzipStreamOfAnotherToolIsInflated() {
        let bytes: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5, 0, 0, 0,
        ]
        #expect(decompress(bytes, .gzip) == .success(Array("hello".utf8)))
    }

    @Test(arguments: MessageEncoding.allCases)
    func aBombStopsAtTheLimit(encoding: MessageEncoding) {
        let bomb = compress([UInt8](repeating: 0, count: 10_000_000), encoding)
        #expect(bomb.count < 20_000)
        #expect(decompress(bomb, encoding, limit: 4096) == .failure(.tooLong(limit: 4096)))
    }

    @Test(arguments: MessageEncoding.allCases)
    func everyTruncationAndATailAreMalformed(encoding: MessageEncoding) {
        let whole = compress(Array("hello hello hello".utf8), encoding)
        for count in 0..<whole.count {
            #expect(decompress(Array(whole.prefix(count)), encoding) == .failure(.malformed))
        }
        #expect(decompress(whole + [0], encoding) == .failure(.malformed))
    }
}
