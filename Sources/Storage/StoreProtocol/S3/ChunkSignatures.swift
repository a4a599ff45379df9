import Basics
import Crypto

/// Verifies the signatures of a body's chunks: each covers a chunk and the previous signature, the first one the request's (S3's
/// API, "Signature calculations: transferring payload in multiple chunks").
package struct ChunkSignatures {
    private let key: [UInt8]
    /// The time `yyyymmddThhmmssZ`, and the scope as text.
    private let date: String
    private let scope: String
    /// The previous signature in hexadecimal.
    private var previous: String
    private let chunk = IncrementalDigest(.sha256)

    /// - Parameter seed: the signature of the request.
    init(_ signature: S3Signature, seed: [UInt8], secret: Secret) {
        key = SignatureV4.s3.signingKey(signature.scope, secret)
        date = signature.date
        scope = SignatureV4.s3.text(of: signature.scope)
        previous = Hex.lower(seed)
    }

    /// Adds bytes of the current chunk.
    func update(_ bytes: UnsafeRawBufferPointer) {
        chunk.update(bytes)
    }

    /// Ends the current chunk and verifies its signature.
    ///
    /// - Parameter claimed: its signature in hexadecimal; `nil` if it has none.
    mutating func endChunk(_ claimed: (some StringProtocol)?) throws(StoreError) {
        let empty = Hex.lower(Digest.sha256([]))
        try verify("AWS4-HMAC-SHA256-PAYLOAD", "\(empty)\n\(Hex.lower(chunk.finalize()))", claimed)
    }

    /// - Parameter lines: `name:value`, each followed by a line break.
    mutating func endTrailer(_ lines: String, _ claimed: (some StringProtocol)?) throws(StoreError) {
        try verify("AWS4-HMAC-SHA256-TRAILER", Hex.lower(Digest.sha256(Array(lines.utf8))), claimed)
    }

    private mutating func verify(
        _ algorithm: String, _ hashes: String, _ claimed: (some StringProtocol)?
    ) throws(StoreError) {
        let text = [algorithm, date, scope, previous, hashes].joined(separator: "\n")
        let signature = HMAC.sha256(key: key, Array(text.utf8))
        guard let claimed = claimed.flatMap({ Hex.decode($0) }), constantTimeEqual(signature, claimed) else {
            throw StoreError(
                .signatureDoesNotMatch,
                "The chunk signature we calculated does not match the one you provided.")
        }
        previous = Hex.lower(signature)
    }
}
