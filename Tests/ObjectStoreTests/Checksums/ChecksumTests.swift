import Basics
import Crypto
import TestSupport
import Testing

@testable import ObjectStore
@testable import StoreProtocol

@Suite(.timeLimited) struct ChecksumTests {
    private func checksum(
        _ algorithm: ChecksumAlgorithm, _ bytes: some Collection<UInt8>, piece: Int = .max
    ) -> Checksum {
        var running = RunningChecksum(algorithm)
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let next = rest.prefix(piece)
            next.withUnsafeBytes { running.update($0) }
            rest = rest.dropFirst(next.count)
        }
        return running.finalize()
    }

    /// The check values of the catalogue of CRCs (reveng) and of FIPS 180.
    @Test(arguments: [
        (ChecksumAlgorithm.crc32, "cbf43926"), (.crc32c, "e3069283"), (.crc64nvme, "ae8b14860a799888"),
        (.sha1, "f7c3bc1d808e04732adf679965ccc34ca7ae3441"),
        (.sha256, "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225"),
    ])
    func computesWhatTheDefinitionsSay(algorithm: ChecksumAlgorithm, expected: String) {
        let digits = checksum(algorithm, "123456789".utf8)
        #expect(Hex.lower(digits.bytes) == expected)
        #expect(digits.bytes.count == algorithm.byteCount)
        #expect(checksum(algorithm, []) == checksum(algorithm, "".utf8))
    }

    @Test(arguments: ChecksumAlgorithm.allCases, [1, 7, 8, 9, 4096])
    func doesNotDependOnThePieces(algorithm: ChecksumAlgorithm, piece: Int) {
        let bytes = content(10_001)
        #expect(checksum(algorithm, bytes, piece: piece) == checksum(algorithm, bytes))
    }

    @Test(
        arguments: [ChecksumAlgorithm.crc32, .crc32c, .crc64nvme], [[1], [5, 0, 9], [4096, 4096, 1], [3, 70_000]])
    func combinesThePartsOfAWhole(algorithm: ChecksumAlgorithm, sizes: [Int]) throws {
        let bytes = content(sizes.reduce(0, +))
        var rest = bytes[...]
        let parts = sizes.map { size in
            defer { rest = rest.dropFirst(size) }
            return (checksum: Checksum?.some(checksum(algorithm, rest.prefix(size))), size: Int64(size))
        }
        let kind = try #require(MultipartChecksum(algorithm, .fullObject))
        #expect(kind.combined(parts) == checksum(algorithm, bytes))
        #expect(kind.combined(parts + [(nil, 0)]) == nil)
    }

    @Test func composesThePartsChecksums() throws {
        let parts = ["a", "bc"].map { (checksum: Checksum?.some(checksum(.sha256, $0.utf8)), size: Int64(1)) }
        let kind = try #require(MultipartChecksum(.sha256, nil))
        let whole = try #require(kind.combined(parts))
        #expect(whole.bytes == Digest.sha256(parts.flatMap { $0.checksum?.bytes ?? [] }))
        #expect(whole.description.hasSuffix("-2"))
        #expect(Checksum(whole.description) == whole)
    }

    @Test func knowsTheKindsThatS3Has() {
        #expect(MultipartChecksum(.crc32, nil)?.kind == .composite)
        #expect(MultipartChecksum(.crc64nvme, nil)?.kind == .fullObject)
        #expect(MultipartChecksum(.crc64nvme, .composite) == nil)
        #expect(MultipartChecksum(.sha1, .fullObject) == nil)
        #expect(MultipartChecksum("CRC32C:FULL_OBJECT")?.description == "CRC32C:FULL_OBJECT")
    }

    @Test(arguments: ["", "CRC32", "CRC32:", "CRC9:AAAA", "CRC32:A", "CRC32:AAAAAA==-x", "CRC32:AAAAAA==-1-2-"])
    func refusesOtherText(text: String) {
        let read = Checksum(text)
        #expect(read == nil || read?.bytes.count != 4 || text.hasSuffix("-"))
    }
}
