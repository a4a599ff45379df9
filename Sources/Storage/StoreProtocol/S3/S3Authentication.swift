import Basics
import Crypto
import HTTPTypes

/// Reads the authentication of S3 requests: version 4 of AWS's signature, in the header or presigned.
struct S3Authentication {
    let request: SignedRequest
    /// The host and port of the public endpoint; see ``S3Signature/otherHosts``.
    let publicAuthority: String?

    /// - Throws: `accessDenied` for a request without authentication, or with unsigned S3 fields; `invalidArgument` for more than
    ///   one authentication, `authorizationMalformed` for one that cannot be parsed.
    func read() throws(StoreError) -> Authentication {
        try request.requireOneAuthentication()
        guard let field = request.fields["authorization"] else { return try presigned() }
        guard field.hasPrefix(SignatureV4.s3.algorithm + " ") else { throw Self.otherMechanism }
        guard let items = SignedRequest.authorizationItems(field.dropFirst(SignatureV4.s3.algorithm.count + 1)),
            let credential = items["Credential"], let signed = items["SignedHeaders"],
            let signature = items["Signature"]
        else { throw Self.malformed("Authorization field") }
        guard request.fields["x-amz-content-sha256"] != nil else {
            throw StoreError(.invalidRequest, "The request must have the header field x-amz-content-sha256.")
        }
        guard let date = request.fields["x-amz-date"] else { throw Self.malformed("x-amz-date") }
        return try authentication(
            credential: credential, date: date, signed: signed, signature: signature,
            token: request.fields["x-amz-security-token"], lifetime: nil)
    }

    private func presigned() throws(StoreError) -> Authentication {
        let target = request.target
        guard target.has("X-Amz-Signature") else { throw Self.otherMechanism }
        if let text = target["X-Amz-Expires"], let lifetime = Int64(decimal: text), !(1...604_800).contains(lifetime) {
            throw StoreError(
                .authorizationMalformed, "X-Amz-Expires is \(lifetime), but must be from 1 to 604800 seconds (7 days).")
        }
        guard target["X-Amz-Algorithm"] == SignatureV4.s3.algorithm, let signature = target["X-Amz-Signature"],
            let credential = target["X-Amz-Credential"], let date = target["X-Amz-Date"],
            let signed = target["X-Amz-SignedHeaders"],
            let lifetime = target["X-Amz-Expires"].flatMap({ Int64(decimal: $0) }), (1...604_800).contains(lifetime)
        else { throw Self.malformed("query") }
        return try authentication(
            credential: credential[...], date: date, signed: signed[...], signature: signature[...],
            token: target["X-Amz-Security-Token"], lifetime: lifetime)
    }

    private func authentication(
        credential: Substring, date: String, signed: Substring, signature: Substring, token: String?,
        lifetime: Int64?
    ) throws(StoreError) -> Authentication {
        guard let (accessKeyID, scope) = SignatureV4.s3.credential(credential) else {
            throw Self.malformed("credential")
        }
        guard let signedAt = Timestamps.parseBasic(date), date.hasPrefix(scope.day) else {
            throw Self.malformed("date")
        }
        let names = signed.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        guard names.contains("host"), !names.contains(""), names == names.sorted(), Set(names).count == names.count
        else {
            throw Self.malformed("list of signed headers")
        }
        // All S3 fields of a request must be signed, including token and date.
        let unsigned = request.fields.fields.map(\.name).first { $0.hasPrefix("x-amz-") && !names.contains($0) }
        if let unsigned {
            throw StoreError(
                .accessDenied, "The request must sign these header fields: \(unsigned).")
        }
        let scheme = S3Signature(
            scope: scope, date: date, signedFields: names, payload: S3Payload.mode(of: request), otherHosts: otherHosts)
        return Authentication(
            scheme: scheme, accessKeyID: accessKeyID, securityToken: token, signature: Hex.decode(signature),
            expiresAt: lifetime.map { signedAt.adding(seconds: $0) }, signedAt: signedAt)
    }

    private var otherHosts: [String] {
        guard let publicAuthority else { return [] }
        guard request.target.isVirtualHost, let bucket = request.target.bucket else { return [publicAuthority] }
        return ["\(bucket).\(publicAuthority)"]
    }

    static let otherMechanism = StoreError(
        .invalidRequest,
        """
        The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256, which is signature \
        version 4: with boto3 Config(signature_version="s3v4"), with awscli "aws configure set default.s3.signature_version \
        s3v4", with s3cmd signature_v2 = False, with rclone v2_auth = false, with s3fs \
        config_kwargs={"signature_version": "s3v4"}.
        """)

    private static func malformed(_ what: String) -> StoreError {
        StoreError(.authorizationMalformed, "The \(what) of the request's authentication is malformed.")
    }
}
