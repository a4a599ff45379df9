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
