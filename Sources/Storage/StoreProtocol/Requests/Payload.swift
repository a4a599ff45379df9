import Basics
import HTTPTypes

/// The framing, length and checks of a request's body.
package struct Payload {
    package enum Framing {
        /// The body has HTTP's own framing only.
        case plain
        /// The body consists of S3's chunks inside HTTP's framing.
        case chunks(AWSChunkReader)
    }

    /// The number of bytes without framing; `nil` if it is not declared.
    package let length: Int64?
    package let checks: BodyChecks
    package var framing = Framing.plain

    package init(length: Int64?, checks: BodyChecks, framing: Framing = .plain) {
        self.length = length
        self.checks = checks
        self.framing = framing
    }
}

extension HTTPRequestHead.Framing {
    /// The number of bytes of the body; `nil` if it is not declared.
    var bodyLength: Int64? {
        switch self {
        case .none: 0
        case .length(let length): length
        case .chunked: nil
        }
    }
}

extension SignedRequest {
    /// Returns the 16 bytes of the body's expected MD5; `nil` if the client sent none.
    func contentMD5() throws(StoreError) -> [UInt8]? {
        guard let text = fields["content-md5"] else { return nil }
        guard let digest = Base64.decode(text), digest.count == 16 else {
            throw StoreError(.invalidDigest, "The Content-MD5 you specified is not valid.")
        }
        return digest
    }
}

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
