import Basics
import HTTPTypes

/// Reads the authentication of OSS requests: versions 4 and 1 of the signature, in the header or presigned.
struct OSSAuthentication {
    let request: SignedRequest

    /// - Throws: `accessDenied` for a request without authentication, `invalidArgument` for more than one, or one that cannot be
    ///   parsed.
    func read() throws(StoreError) -> Authentication {
        try request.requireOneAuthentication()
        guard let field = request.fields["authorization"] else {
            return try request.target.has("x-oss-signature") ? presignedV4() : presignedV1()
        }
        if field.hasPrefix(SignatureV4.oss.algorithm + " ") {
            return try v4(field.dropFirst(SignatureV4.oss.algorithm.count + 1))
        }
        guard field.hasPrefix("OSS ") else {
            throw StoreError(.invalidArgument, "The authorization type is not supported.")
        }
        return try v1(field.dropFirst(4))
    }

    private func malformed(_ what: String) -> StoreError {
        StoreError(.invalidArgument, "The \(what) of the request's authentication is invalid.")
    }

    /// Parses `Credential=AK/scope[,AdditionalHeaders=a;b],Signature=…`.
    private func v4(_ field: Substring) throws(StoreError) -> Authentication {
        guard let items = SignedRequest.authorizationItems(field), let credential = items["Credential"],
            let signature = items["Signature"]
        else { throw malformed("Authorization field") }
        let date = try signedDate()
        if let payload = request.fields["x-oss-content-sha256"], payload != OSSSignatureV4.payload {
            throw malformed("x-oss-content-sha256")
        }
        return try authentication(
            V4Parts(
                credential: credential, date: date.text, signedAt: date.time,
                additional: items["AdditionalHeaders"] ?? "", signature: signature,
                token: request.fields["x-oss-security-token"], lifetime: nil))
    }

    /// Returns the second line of the string to sign: `x-oss-date` or, without one, `Date` in HTTP's form, which aliyun-oss-go-sdk
    /// and ossutil 1 sign. As a line of the signed text, either is covered by the signature.
    private func signedDate() throws(StoreError) -> (text: String, time: UnixTime) {
        if let text = request.fields["x-oss-date"] {
            guard let time = Timestamps.parseBasic(text) else { throw malformed("x-oss-date") }
            return (text, time)
        }
        guard let text = request.fields["date"] else {
            throw StoreError(
                .invalidArgument, "A request signed with version 4 must have an x-oss-date or a Date field.")
        }
        guard let time = Timestamps.parseHTTP(text) ?? Timestamps.parseBasic(text) else { throw malformed("Date") }
        return (text, time)
    }

    private func presignedV4() throws(StoreError) -> Authentication {
        let target = request.target
        if let text = target["x-oss-expires"], let lifetime = Int64(decimal: text), !(1...604_800).contains(lifetime) {
            throw StoreError(
                .invalidArgument, "x-oss-expires is \(lifetime), but must be from 1 to 604800 seconds (7 days).")
        }
        guard target["x-oss-signature-version"] == SignatureV4.oss.algorithm, let signature = target["x-oss-signature"],
            let credential = target["x-oss-credential"], let date = target["x-oss-date"],
            let lifetime = target["x-oss-expires"].flatMap({ Int64(decimal: $0) }), (1...604_800).contains(lifetime)
        else { throw malformed("query") }
        guard let signedAt = Timestamps.parseBasic(date) else { throw malformed("x-oss-date") }
        return try authentication(
            V4Parts(
                credential: credential[...], date: date, signedAt: signedAt,
                additional: target["x-oss-additional-headers"]?[...] ?? "", signature: signature[...],
                token: target["x-oss-security-token"], lifetime: lifetime))
    }

    /// The parts of a signature of version 4, from the Authorization field or from the query.
    private struct V4Parts {
        let credential: Substring
        /// The date as it was signed.
        let date: String
        let signedAt: UnixTime
        let additional: Substring
        let signature: Substring
        let token: String?
        /// The time in seconds for which a URL is valid; `nil` for the Authorization field.
        let lifetime: Int64?
    }

    private func authentication(_ parts: V4Parts) throws(StoreError) -> Authentication {
        guard let (accessKeyID, scope) = SignatureV4.oss.credential(parts.credential) else {
            throw malformed("credential")
        }
        guard Timestamps.basic(parts.signedAt).hasPrefix(scope.day) else {
            throw StoreError(
                .invalidArgument,
                "The day of the credential's scope is \(scope.day), but the signed date is \(parts.date).")
        }
        let names = parts.additional.split(separator: ";").map { $0.lowercased() }.sorted()
        return Authentication(
            scheme: OSSSignatureV4(scope: scope, date: parts.date, signedFields: names), accessKeyID: accessKeyID,
            securityToken: parts.token, signature: Hex.decode(parts.signature),
            expiresAt: parts.lifetime.map { parts.signedAt.adding(seconds: $0) }, signedAt: parts.signedAt)
    }

    /// Parses `AK:signature`. The token may be unsigned, in `security-token`, because it proves itself, and the secret is derived
    /// from it.
    private func v1(_ field: Substring) throws(StoreError) -> Authentication {
        let halves = field.split(separator: ":", omittingEmptySubsequences: false)
        guard halves.count == 2 else { throw malformed("Authorization field") }
        guard let date = request.fields["x-oss-date"] ?? request.fields["date"],
            let signedAt = Timestamps.parseHTTP(date) ?? Timestamps.parseBasic(date)
        else { throw malformed("date") }
        return Authentication(
            scheme: OSSSignatureV1(date: date), accessKeyID: halves[0],
            securityToken: request.fields["x-oss-security-token"] ?? request.fields["security-token"],
            signature: Base64.decode(halves[1]), signedAt: signedAt)
    }

    private func presignedV1() throws(StoreError) -> Authentication {
        let target = request.target
        guard let accessKeyID = target["OSSAccessKeyId"], let signature = target["Signature"],
            let expiry = target["Expires"], let seconds = Int64(decimal: expiry)
        else { throw malformed("query") }
        // Some clients do not encode the `+` of the signature's Base64, which has no spaces.
        let bytes = Base64.decode(signature.replacing(bytes: [" ": "+"]))
        return Authentication(
            scheme: OSSSignatureV1(date: expiry), accessKeyID: accessKeyID, securityToken: target["security-token"],
            signature: bytes, expiresAt: UnixTime(seconds: seconds), signedAt: nil)
    }
}
