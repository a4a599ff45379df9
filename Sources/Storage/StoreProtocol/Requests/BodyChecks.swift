/// What a body must be, as its request says, and what is to be computed of it. Used by one thread at a time.
package final class BodyChecks {
    package let contentMD5: [UInt8]?
    /// The SHA-256 of the body as it was signed.
    package let sha256: [UInt8]?
    /// Computed and kept; nil = none.
    package private(set) var algorithm: ChecksumAlgorithm?
    /// What ``algorithm`` must give. Of a trailer it is known when the body has ended.
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

    /// A part's checksum is to be of the kind that its upload was initiated with; where the client sent none, the store
    /// computes it all the same.
    ///
    /// - Returns: whether it is of that kind.
    package func follow(_ upload: MultipartChecksum) -> Bool {
        guard algorithm == nil || algorithm == upload.algorithm else { return false }
        algorithm = upload.algorithm
        return true
    }
}
