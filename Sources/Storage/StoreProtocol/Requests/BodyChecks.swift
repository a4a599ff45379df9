/// The expected digests of a request's body, and the checksum to compute. Used by one thread at a time.
package final class BodyChecks {
    package let contentMD5: [UInt8]?
    /// The signed SHA-256 of the body.
    package let sha256: [UInt8]?
    /// The checksum to compute and store; `nil` = none.
    package private(set) var algorithm: ChecksumAlgorithm?
    /// The expected value for ``algorithm``. If it is in the trailer, it is known at the end of the body.
    package var checksum: [UInt8]?

    package init(
        contentMD5: [UInt8]? = nil, sha256: [UInt8]? = nil, algorithm: ChecksumAlgorithm? = nil,
        checksum: [UInt8]? = nil
    ) {
        self.contentMD5 = contentMD5
        self.sha256 = sha256
        self.algorithm = algorithm
        self.checksum = checksum
    }

    /// Applies the checksum kind with which a part's upload was initiated; without a checksum from the client, the store computes
    /// it nevertheless.
    ///
    /// - Returns: whether the client's checksum is of that kind.
    package func follow(_ upload: MultipartChecksum) -> Bool {
        guard algorithm == nil || algorithm == upload.algorithm else { return false }
        algorithm = upload.algorithm
        return true
    }
}
