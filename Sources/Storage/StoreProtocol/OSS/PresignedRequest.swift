package import Basics
import HTTPTypes

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
