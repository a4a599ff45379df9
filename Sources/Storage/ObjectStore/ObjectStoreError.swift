import StoreProtocol

/// Why the store refuses something. What its clients are told then, is the server's to say.
package enum ObjectStoreError: Error, Equatable {
    /// No such upload, or none that is open; to others than its owner there is none either.
    case noSuchUpload
    case noSuchObject
    /// The object may not be written any more.
    case writeDenied
    /// The upload's owner would have too much. For people.
    case quotaExceeded(String)
    /// Not 1 to 10,000.
    case invalidPartNumber
    /// Bytes. `isIssued`: it is the part size that was issued with the upload.
    case partTooLarge(limit: Int64, isIssued: Bool)
    /// Bytes; of an object that is put whole.
    case objectTooLarge(limit: Int64)
    /// The parts of a list are not numbered from 1 on without a hole.
    case partsNotContiguous
    case partsNotAscending
    /// A listed part is not stored, or has another ETag or checksum.
    case partMismatch(number: Int)
    /// A part that is not the last has another size than was issued; bytes.
    case partTooSmall(number: Int, size: Int64, partSize: Int64)
    /// The whole has another size than its client says; bytes.
    case sizeMismatch(size: Int64, expected: Int64)
    case md5Mismatch
    /// The body has another SHA-256 than was signed.
    case sha256Mismatch
    case checksumMismatch(ChecksumAlgorithm)
    /// A part's checksum is not of the kind that its upload was initiated with, which is this one.
    case checksumNotOfUpload(ChecksumAlgorithm)
    /// The bodies that are being received have all the memory there is for them.
    case outOfMemory
    /// Too little of the disk is free for a new upload.
    case noSpaceForNewUpload
}
