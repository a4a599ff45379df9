import Basics
import DeviceClient
import ObjectStore
import StoreClient
import TestSupport

/// The file of a device, with the digests that a client computes of its pieces.
struct SimulatedFile {
    let bytes: [UInt8]
    private let digests: [Range<Int64>: (md5: [UInt8], crc64: UInt64)]

    /// - Parameter partSize: the part size of the uploads.
    init(size: Int, partSize: Int64, _ lot: inout SeededGenerator) {
        let first = lot.next()
        bytes = (0..<UInt64(size / 8 + 1)).map { first &* ($0 + 1) }.withUnsafeBytes { Array($0.prefix(size)) }
        var digests: [Range<Int64>: ([UInt8], UInt64)] = [:]
        let whole = 0..<Int64(size)
        for range in [whole] + PartRange.all(size: Int64(size), partSize: partSize).map(\.bytes) {
            digests[range] = bytes.withUnsafeBytes { bytes in
                var digest = ContentDigest()
                digest.update(UnsafeRawBufferPointer(rebasing: bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
                return (digest.finalizedMD5(), digest.crc64)
            }
        }
        self.digests = digests
    }

    var size: Int64 { Int64(bytes.count) }
    var identity: SourceIdentity { SourceIdentity(path: "/drive", size: size, modified: 1, device: 1, inode: 1) }

    func md5(_ range: Range<Int64>) -> [UInt8] { digests[range]?.md5 ?? [] }
    func crc64(_ range: Range<Int64>) -> UInt64 { digests[range]?.crc64 ?? 0 }

    /// Whether the file at `path` has the same bytes.
    func isStored(at path: String) -> Bool {
        (try? PrivateFile.read(path)) == bytes
    }
}
