import Basics
import HTTPTypes

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
