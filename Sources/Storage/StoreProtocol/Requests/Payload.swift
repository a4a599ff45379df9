import Basics
import HTTPTypes

/// A request's body as it is to be taken.
package struct Payload {
    package enum Framing {
        /// The body in HTTP's own framing.
        case plain
        /// In chunks of S3's, inside of what HTTP delimits.
        case chunks(AWSChunkReader)
    }

    /// Bytes, without framing; nil where they are not declared.
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
    /// Bytes of the body; nil where they are not declared.
    var bodyLength: Int64? {
        switch self {
        case .none: 0
        case .length(let length): length
        case .chunked: nil
        }
    }
}

extension SignedRequest {
    /// The 16 bytes that the body must hash to; nil where the client sent none.
    func contentMD5() throws(StoreError) -> [UInt8]? {
        guard let text = fields["content-md5"] else { return nil }
        guard let digest = Base64.decode(text), digest.count == 16 else {
            throw StoreError(.invalidDigest, "The Content-MD5 you specified is not valid.")
        }
        return digest
    }
}
