import Crypto
import HTTPTypes

/// OSS's signature version 1: HMAC-SHA1 over some fields and the resource.
struct OSSSignatureV1: SignatureScheme {
    /// The query parameters that belong to the signed resource. One deployed client signs all of them.
    enum CanonicalForm: CaseIterable {
        case subresources
        case everyParameter
    }

    /// The line of the date: the date of the request, or the expiry of a presigned URL.
    let date: String
    /// Version 1 cannot name fields.
    let signedFields: [String] = []

    func signatures(of request: SignedRequest, secret: Secret) -> [[UInt8]] {
        CanonicalForm.allCases.map { signature(of: request, form: $0, secret: secret) }
    }

    /// Returns the decoded signature: 20 bytes.
    func signature(of request: SignedRequest, form: CanonicalForm, secret: Secret) -> [UInt8] {
        HMAC.sha1(key: secret.exposed, Array(stringToSign(request, form: form).utf8))
    }

    func stringToSign(_ request: SignedRequest, form: CanonicalForm) -> String {
        let fields = request.canonicalFields { $0.hasPrefix("x-oss-") }
        return [
            request.method,
            request.fields["content-md5"] ?? "",
            request.fields["content-type"] ?? "",
            date,
            fields + request.resource + Self.query(request.target.parameters, form: form),
        ].joined(separator: "\n")
    }

    private static func query(_ parameters: [RequestTarget.Parameter], form: CanonicalForm) -> String {
        let signed = parameters.filter {
            switch form {
            case .subresources: subresources.contains($0.name)
            case .everyParameter: !["OSSAccessKeyId", "Expires", "Signature"].contains($0.name)
            }
        }
        .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
        .map { $0.value.isEmpty ? $0.name : "\($0.name)=\($0.value)" }
        return signed.isEmpty ? "" : "?" + signed.joined(separator: "&")
    }

    static let subresources: Set<String> = [
        "acl", "append", "asyncFetch", "bucketInfo", "callback", "callback-var", "comp", "continuation-token", "cors",
        "delete", "encryption", "endTime", "group", "inventory", "inventoryId", "lifecycle", "link", "live", "location",
        "logging", "objectInfo", "objectMeta", "partNumber", "policy", "position", "qos", "qosInfo", "referer",
        "replication", "replicationLocation", "replicationProgress", "requestPayment", "resourceGroup",
        "response-cache-control", "response-content-disposition", "response-content-encoding",
        "response-content-language", "response-content-type", "response-expires", "restore", "security-token",
        "sequential", "startTime", "stat", "status", "style", "styleName", "symlink", "tagging", "uploadId", "uploads",
        "versionId", "versioning", "versions", "vod", "website", "worm", "wormExtend", "wormId", "x-oss-async-process",
        "x-oss-process", "x-oss-request-payer", "x-oss-traffic-limit",
    ]
}
