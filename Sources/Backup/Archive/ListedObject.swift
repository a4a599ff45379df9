import Basics
import ObjectStore

/// An entry in an archive's list of objects: file id, size and CRC-64 in 32 bytes.
extension StoredFile {
    static let entryCount = 32

    /// The entry; `nil` for an id that is not 32 hexadecimal digits, or a negative size.
    var listEntry: [UInt8]? {
        guard size >= 0, let id = Hex.decode(fileID), id.count == 16 else { return nil }
        return id + size.bigEndianBytes + crc64.bigEndianBytes
    }

    init?(listEntry: [UInt8]) {
        guard listEntry.count == Self.entryCount, let size = Int64(exactly: UInt64(bigEndianBytes: listEntry[16..<24]))
        else {
            return nil
        }
        self.init(fileID: Hex.lower(listEntry[..<16]), size: size, crc64: UInt64(bigEndianBytes: listEntry[24...]))
    }
}
