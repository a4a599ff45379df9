package import Basics
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

extension OSSSignatureV4 {
    /// Returns the fields of a client's request: its own, and those of the signature.
    static func sign(
        _ request: SignedRequest, region: String, _ credentials: SigningCredentials, now: UnixTime
    ) -> HTTPFields {
        let date = Timestamps.basic(now)
        let scope = SignatureV4.Scope(day: String(date.prefix(8)), region: region)
        var fields = request.fields
        fields.append("x-oss-content-sha256", payload)
        fields.append("x-oss-date", date)
        if let token = credentials.securityToken { fields.append("x-oss-security-token", token) }
        let canonical = OSSSignatureV4(scope: scope, date: date, signedFields: []).canonicalRequest(
            SignedRequest(method: request.method, target: request.target, fields: fields))
        let v4 = SignatureV4.oss
        let signature = v4.signature(of: canonical, date: date, scope: scope, secret: credentials.secret)
        let credential = "\(credentials.accessKeyID)/\(v4.text(of: scope))"
        fields.append("Authorization", "\(v4.algorithm) Credential=\(credential),Signature=\(Hex.lower(signature))")
        return fields
    }
}

/// A request that consists of its URL, valid until it expires.
package struct PresignedRequest: Sendable, Equatable {
    package let method: String
    package let url: String
    package let expiresAt: UnixTime

    /// Signs with version 4 in path style, which needs no wildcard in the DNS.
    ///
    /// - Parameter parameters: further decoded query parameters, which are signed as well.
    package init(
        _ method: String, _ object: StoreObject, parameters: [(name: String, value: String)] = [],
        credentials: TemporaryCredentials, at now: UnixTime, lifetime: Duration
    ) throws(RequestTarget.Malformed) {
        let date = Timestamps.basic(now)
        let scope = SignatureV4.Scope(day: String(date.prefix(8)), region: object.endpoint.region)
        let query =
            (parameters + [
                ("x-oss-credential", "\(credentials.accessKeyID)/\(SignatureV4.oss.text(of: scope))"),
                ("x-oss-date", date),
                ("x-oss-expires", String(lifetime.wholeSeconds)),
                ("x-oss-security-token", credentials.securityToken),
                ("x-oss-signature-version", SignatureV4.oss.algorithm),
            ]).map { "\($0)=\(URLEncoding.encode($1))" }.joined(separator: "&")
        let target = "/\(object.bucket)/\(URLEncoding.encode(object.key, keepingSlashes: true))?\(query)"
        let request = SignedRequest(
            method: method, target: try RequestTarget(target, host: "", domains: []), fields: [:])
        let canonical = OSSSignatureV4(scope: scope, date: date, signedFields: []).canonicalRequest(request)
        let signature = SignatureV4.oss.signature(of: canonical, date: date, scope: scope, secret: credentials.secret)
        self.method = method
        url = "\(object.endpoint.text)\(target)&x-oss-signature=\(Hex.lower(signature))"
        expiresAt = UnixTime(seconds: now.seconds).adding(lifetime)
    }
}
