import Platform

/// OSS's signature version 4, `OSS4-HMAC-SHA256`: in the Authorization field, or in the query of a presigned URL.
struct SignatureV4 {
    static let algorithm = "OSS4-HMAC-SHA256"
    static let payload = "UNSIGNED-PAYLOAD"

    /// `yyyymmdd/region/oss/aliyun_v4_request`; the region is empty where a client does not know one.
    struct Scope: Equatable {
        let day: String
        let region: String

        var text: String { "\(day)/\(region)/oss/aliyun_v4_request" }
    }

    let scope: Scope
    /// `yyyymmddThhmmssZ`
    let date: String
    /// Lower case, sorted; signed beside those that always are.
    let additionalFields: [String]

    /// Hex-decoded: 32 bytes.
    func signature(of request: SignedRequest, secret: Secret) -> [UInt8] {
        let canonical = Digest.sha256(Array(canonicalRequest(request).utf8))
        let text = [Self.algorithm, date, scope.text, Hex.lower(canonical)].joined(separator: "\n")
        return HMAC.sha256(key: signingKey(secret), Array(text.utf8))
    }

    func canonicalRequest(_ request: SignedRequest) -> String {
        [
            request.method,
            PercentEncoding.encode(request.resource, keepingSlashes: true),
            canonicalQuery(request.target.parameters),
            request.canonicalFields { name in
                name.hasPrefix("x-oss-") || name == "content-type" || name == "content-md5"
                    || additionalFields.contains(name)
            },
            additionalFields.joined(separator: ";"),
            Self.payload,
        ].joined(separator: "\n")
    }

    /// Sorted by encoded name, then value; the signature of a presigned URL is not part of what it signs.
    private func canonicalQuery(_ parameters: [RequestTarget.Parameter]) -> String {
        parameters.filter { $0.name != "x-oss-signature" }
            .map { (name: PercentEncoding.encode($0.name), value: PercentEncoding.encode($0.value)) }
            .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
            .map { $0.value.isEmpty ? $0.name : "\($0.name)=\($0.value)" }
            .joined(separator: "&")
    }

    private func signingKey(_ secret: Secret) -> [UInt8] {
        [scope.day, scope.region, "oss", "aliyun_v4_request"].reduce(Array("aliyun_v4".utf8) + secret.exposed) {
            HMAC.sha256(key: $0, Array($1.utf8))
        }
    }
}
