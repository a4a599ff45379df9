import Basics
import Crypto
import HTTPTypes

/// AWS's signature version 4, `AWS4-HMAC-SHA256`, in S3's variant, in which the path is encoded once.
struct S3Signature: SignatureScheme {
    let scope: SignatureV4.Scope
    /// The time `yyyymmddThhmmssZ`.
    let date: String
    /// The signed fields in lower case, in the client's order.
    let signedFields: [String]
    /// The last line of the signed text: a hash, or a keyword.
    let payload: String
    /// Other hosts that the client may have signed instead of the received one, because a proxy on the way may have replaced it.
    let otherHosts: [String]

    func signatures(of request: SignedRequest, secret: Secret) -> [[UInt8]] {
        ([request.fields["host"] ?? ""] + otherHosts).map {
            SignatureV4.s3.signature(of: canonicalRequest(request, host: $0), date: date, scope: scope, secret: secret)
        }
    }

    func chunkSignatures(behind signature: [UInt8], secret: Secret) -> ChunkSignatures? {
        guard S3Payload.signedChunks.contains(payload) else { return nil }
        return ChunkSignatures(self, seed: signature, secret: secret)
    }

    func canonicalRequest(_ request: SignedRequest, host: String) -> String {
        [
            request.method,
            URLEncoding.encode(request.target.path, keepingSlashes: true),
            SignatureV4.canonicalQuery(request.target.parameters, without: "X-Amz-Signature", emptyValue: "="),
            fields(request, host: host),
            signedFields.joined(separator: ";"),
            payload,
        ].joined(separator: "\n")
    }

    /// Returns the signed fields in their order; spaces within a value are merged.
    private func fields(_ request: SignedRequest, host: String) -> String {
        signedFields.map { name in
            let values = name == "host" ? [host] : request.fields.values(of: name)
            let collapsed = values.map {
                $0.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
            }
            return "\(name):\(collapsed.joined(separator: ","))\n"
        }.joined()
    }
}

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
