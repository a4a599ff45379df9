import TestSupport
import Testing

@testable import StoreProtocol

@Suite(.timeLimited) struct CRCTests {
    @Test(arguments: [0, 1, 7, 8, 255, 4096, 65_537])
    func combinedChecksumsEqualThatOfTheWhole(cut: Int) {
        let bytes = content(65_537)
        let (first, second, whole) = bytes.withUnsafeBytes { bytes in
            let halves = [bytes[..<cut], bytes[cut...]].map {
                CRC.crc64.updated(0, UnsafeRawBufferPointer(rebasing: $0))
            }
            return (halves[0], halves[1], CRC.crc64.updated(0, bytes))
        }
        #expect(CRC.crc64.combine(first, second, secondLength: Int64(bytes.count - cut)) == whole)
    }

    @Test func combinesLengthsThatNoBufferHas() {
        // Appending zeros in one step or in two: 2^40 bytes as twice 2^39.
        for (crc, start) in [(CRC.crc64, 0x0123_4567_89AB_CDEF as UInt64), (.crc32, 0x0123_4567)] {
            let half = crc.combine(start, 0, secondLength: 1 << 39)
            #expect(crc.combine(half, 0, secondLength: 1 << 39) == crc.combine(start, 0, secondLength: 1 << 40))
        }
    }
}
