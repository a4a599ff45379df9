import CFolding
import TestSupport
import Testing

@testable import Checksums

@Suite(.timeLimited) struct CRC32Tests {
    private func crc(_ bytes: some Collection<UInt8>, width: Int32? = nil) -> UInt32 {
        var crc = CRC32()
        // Twice, so that the second time begins with another state.
        for _ in 0..<2 { Array(bytes).withUnsafeBytes { crc.add($0, width: width) } }
        return crc.value
    }

    @Test func checksTheCatalogueValue() {
        var crc = CRC32()
        #expect(crc.value == 0)
        Array("123456789".utf8).withUnsafeBytes { crc.update($0) }
        #expect(crc.value == 0xCBF4_3926)
    }

    /// Compared with liblzma alone, for all instructions that the CPU has, and all remainders of their widths.
    @Test func checksumDependsOnTheBytesAlone() {
        let bytes = content(20_000)
        for width in [nil, 128, 512] as [Int32?] where width ?? 0 <= folding_width() {
            for count in [0, 1, 127, 128, 129, 1023, 1024, 1025, 1279, 1280, 1281, 19_937] {
                #expect(crc(bytes[..<count], width: width) == crc(bytes[..<count], width: 0))
            }
        }
    }
}
