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
