import Basics
import HTTPTypes

extension S3Signature {
    /// Returns the fields of a client's request: its own, all of them signed, and those of the signature. The body is not signed,
    /// but its Content-MD5 is, if present.
    ///
    /// - Parameter host: the Host field that will be sent.
    static func sign(
        _ request: SignedRequest, host: String, region: String, _ credentials: SigningCredentials, now: UnixTime
    ) -> HTTPFields {
        let date = Timestamps.basic(now)
        let scope = SignatureV4.Scope(day: String(date.prefix(8)), region: region)
        var fields = request.fields
        fields.append("x-amz-content-sha256", S3Payload.unsigned)
        fields.append("x-amz-date", date)
        if let token = credentials.securityToken { fields.append("x-amz-security-token", token) }
        let names = (fields.fields.map(\.name) + ["host"]).sorted()
        let scheme = S3Signature(
            scope: scope, date: date, signedFields: names, payload: S3Payload.unsigned, otherHosts: [])
        let canonical = scheme.canonicalRequest(
            SignedRequest(method: request.method, target: request.target, fields: fields), host: host)
        let v4 = SignatureV4.s3
        let signature = v4.signature(of: canonical, date: date, scope: scope, secret: credentials.secret)
        let items = [
            "Credential=\(credentials.accessKeyID)/\(v4.text(of: scope))",
            "SignedHeaders=\(names.joined(separator: ";"))", "Signature=\(Hex.lower(signature))",
        ]
        fields.append("Authorization", "\(v4.algorithm) \(items.joined(separator: ", "))")
        return fields
    }
}
