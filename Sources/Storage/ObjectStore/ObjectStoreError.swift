package import StoreProtocol

/// The store's reasons for refusing a request. The server maps them to responses.
package enum ObjectStoreError: Error, Equatable {
    /// The upload does not exist, is not open, or belongs to another owner.
    case noSuchUpload
    case noSuchObject
    /// The object may not be written any more.
    case writeDenied
    /// A device uploaded the object, which a static key cannot delete.
    case uploadIsReadOnly
    /// The bytes of the object no longer match its checksum.
    case objectIsCorrupted
    /// The existing object does not fulfill the request's condition.
    case conditionFailed(WriteCondition.Violation)
    /// The source of a copy does not fulfill the request's conditions.
    case sourceConditionFailed
    /// A later append sets a field that only the first one can set.
    case laterAppendSets(String)
    /// The upload's owner would exceed a quota; the text is for people.
    case quotaExceeded(String)
    /// The number is not 1 to 10,000.
    case invalidPartNumber
    /// The limit is in bytes. `isIssued`: it is the part size that was issued with the upload.
    case partTooLarge(limit: Int64, isIssued: Bool)
    /// The limit is in bytes, for an object from a single PUT.
    case objectTooLarge(limit: Int64)
    /// An upload with an issued part size would be completed from parts that are not numbered from 1 without a gap.
    case partsNotContiguous
    /// No part was sent or listed.
    case noParts
    case partsNotAscending
    /// A listed part is not stored, or has another ETag or checksum.
    case partMismatch(number: Int)
    /// A part other than the last has another size than the issued one; in bytes.
    case partTooSmall(number: Int, size: Int64, partSize: Int64)
    /// The whole object has another size than the client announced; in bytes.
    case sizeMismatch(size: Int64, expected: Int64)
    case md5Mismatch
    /// The body has another SHA-256 than the signed one.
    case sha256Mismatch
    case checksumMismatch(ChecksumAlgorithm)
    /// A part's checksum is not of the kind with which its upload was initiated, which is the value.
    case checksumNotOfUpload(ChecksumAlgorithm)
    /// The bodies that are being received use all memory for them.
    case outOfMemory
    /// The disk has too little free space for a new upload.
    case noSpaceForNewUpload
}
