import Basics
import Crypto
import HTTPTypes

/// OSS's signature version 4, `OSS4-HMAC-SHA256`, in the Authorization field or in the query of a presigned URL.
struct OSSSignatureV4: SignatureScheme {
    static let payload = "UNSIGNED-PAYLOAD"

    let scope: SignatureV4.Scope
    /// The time as written in the request: `yyyymmddThhmmssZ`, or HTTP's form.
    let date: String
    /// The additional signed fields in lower case, sorted.
    let signedFields: [String]

    /// Returns the signatures that prove the request. A presigned URL has a second one, which ignores the content type: curl,
    /// browsers and most libraries send a type of their own choice, which the signer may not have known. If a type was signed, only
    /// that one matches.
    func signatures(of request: SignedRequest, secret: Secret) -> [[UInt8]] {
        var canonical = [canonicalRequest(request)]
        if request.target.has("x-oss-signature"), request.fields["content-type"] != nil {
            canonical.append(canonicalRequest(request, withContentType: false))
        }
        return canonical.map { SignatureV4.oss.signature(of: $0, date: date, scope: scope, secret: secret) }
    }

    func canonicalRequest(_ request: SignedRequest, withContentType: Bool = true) -> String {
        [
            request.method,
            URLEncoding.encode(request.resource, keepingSlashes: true),
            SignatureV4.canonicalQuery(request.target.parameters, without: "x-oss-signature", emptyValue: ""),
            request.canonicalFields { name in
                name.hasPrefix("x-oss-") || (name == "content-type" && withContentType) || name == "content-md5"
                    || signedFields.contains(name)
            },
            signedFields.joined(separator: ";"),
            Self.payload,
        ].joined(separator: "\n")
    }
}
