import Platform

/// OSS's signature version 4, `OSS4-HMAC-SHA256`: in the Authorization field, or in the query of a presigned URL.
struct OSSSignatureV4: SignatureScheme {
    static let payload = "UNSIGNED-PAYLOAD"

    let scope: SignatureV4.Scope
    /// `yyyymmddThhmmssZ`
    let date: String
    /// Lower case, sorted; signed beside those that always are.
    let additionalFields: [String]

    func signatures(of request: SignedRequest, secret: Secret) -> [[UInt8]] {
        [SignatureV4.oss.signature(of: canonicalRequest(request), date: date, scope: scope, secret: secret)]
    }

    func canonicalRequest(_ request: SignedRequest) -> String {
        [
            request.method,
            PercentEncoding.encode(request.resource, keepingSlashes: true),
            SignatureV4.canonicalQuery(request.target.parameters, without: "x-oss-signature", emptyValue: ""),
            request.canonicalFields { name in
                name.hasPrefix("x-oss-") || name == "content-type" || name == "content-md5"
                    || additionalFields.contains(name)
            },
            additionalFields.joined(separator: ";"),
            Self.payload,
        ].joined(separator: "\n")
    }
}
