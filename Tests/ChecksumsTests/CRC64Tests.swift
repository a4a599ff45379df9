import CFolding
import StoreProtocol
import TestSupport
import Testing

@testable import Checksums

@Suite(.timeLimited) struct CRC64Tests {
    private func crc(_ bytes: [UInt8]) -> UInt64 {
        var crc = CRC64()
        bytes.withUnsafeBytes { crc.update($0) }
        return crc.value
    }

    @Test func checksTheCatalogueValue() {
        #expect(crc(Array("123456789".utf8)) == 0x995D_C9BB_DF19_39FA)
        #expect(crc([]) == 0)
    }

    /// Compared with a table-driven implementation like those of clients.
    @Test(arguments: [0, 1, 7, 8, 9, 4096, 65_537, 32 << 10, 300_001])
    func equalsWhatTheTableGives(count: Int) {
        let bytes = content(count)
        let cut = count / 4
        let byTable = [bytes[..<cut], bytes[cut...]].reduce(0 as UInt64) { crc, piece in
            piece.withUnsafeBytes { CRC.crc64.updated(crc, $0) }
        }
        #expect(byTable == crc(bytes))
    }

    /// For all instructions that the CPU has, and all remainders of their widths.
    @Test func checksumDependsOnTheBytesAlone() {
        let bytes = content(20_000)
        for width in [0, 128, 512] as [Int32] where width <= folding_width() {
            for count in [0, 1, 127, 128, 129, 1023, 1024, 1025, 1279, 1280, 1281, 19_937] {
                let expected = bytes[..<count].withUnsafeBytes { CRC.crc64.updated(CRC.crc64.updated(0, $0), $0) }
                var crc = CRC64()
                for _ in 0..<2 { bytes[..<count].withUnsafeBytes { crc.add($0, width: width) } }
                #expect(crc.value == expected)
            }
        }
    }

    @Test func piecesGiveTheChecksumOfTheWhole() {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        var pieces = CRC64()
        for start in stride(from: 0, to: bytes.count, by: 7001) {
            bytes[start..<min(start + 7001, bytes.count)].withUnsafeBytes { pieces.update($0) }
        }
        #expect(pieces.value == crc(bytes))
    }
}
