import Crypto

/// AWS's signature version 4, `AWS4-HMAC-SHA256`, as S3 has it: the path is encoded once.
struct S3Signature: SignatureScheme {
    let scope: SignatureV4.Scope
    /// `yyyymmddThhmmssZ`
    let date: String
    /// Lower case, in the order in which the client names them.
    let signedFields: [String]
    /// The last line of what is signed: a hash, or a word.
    let payload: String
    /// Hosts that the client may have signed besides the one that arrived: a proxy on the way may have put in its own.
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

    /// In the order in which they are named; blanks within a value count as one.
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
