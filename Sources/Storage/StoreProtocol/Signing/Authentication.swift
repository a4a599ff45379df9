package import Basics
package import Crypto
package import HTTPTypes

/// The authentication data of a request, read from its fields or its query, and not verified yet.
package struct Authentication {
    package let scheme: any SignatureScheme
    package let accessKeyID: String
    /// The security token; `nil` without one, which is valid for static keys only.
    package let securityToken: String?
    package let signature: [UInt8]
    /// The expiry of a presigned URL.
    package let expiresAt: UnixTime?
    /// The client's time of signing; `nil` for a presigned URL of OSS's version 1, which does not contain it.
    package let signedAt: UnixTime?

    /// - Parameter signature: decoded; `nil` if that failed. A signature with a wrong length or alphabet matches nothing, because
    ///   computed ones have the right length.
    init(
        scheme: any SignatureScheme, accessKeyID: some StringProtocol, securityToken: String?, signature: [UInt8]?,
        expiresAt: UnixTime? = nil, signedAt: UnixTime?
    ) {
        self.scheme = scheme
        self.accessKeyID = String(accessKeyID)
        self.securityToken = securityToken
        self.signature = signature ?? []
        self.expiresAt = expiresAt
        self.signedAt = signedAt
    }

    /// Whether `secret` made the signature. Compares decoded bytes in constant time.
    package func isSigned(_ request: SignedRequest, by secret: Secret) -> Bool {
        scheme.signatures(of: request, secret: secret).contains { constantTimeEqual($0, signature) }
    }

    /// Returns the verifier of the body's chunk signatures, if there are any.
    package func chunkSignatures(_ secret: Secret) -> ChunkSignatures? {
        scheme.chunkSignatures(behind: signature, secret: secret)
    }
}

/// A signature scheme of requests.
package protocol SignatureScheme {
    /// The signed fields that the client named, in lower case, in addition to those that are always signed.
    var signedFields: [String] { get }

    /// Returns the decoded signatures that `secret` can have made: several, if clients interpret the rules differently.
    func signatures(of request: SignedRequest, secret: Secret) -> [[UInt8]]

    /// - Parameter signature: the signature of the request.
    func chunkSignatures(behind signature: [UInt8], secret: Secret) -> ChunkSignatures?
}

extension SignatureScheme {
    func chunkSignatures(behind signature: [UInt8], secret: Secret) -> ChunkSignatures? { nil }
}

extension SignedRequest {
    /// - Throws: `accessDenied` for a request without authentication, `invalidArgument` for more than one.
    func requireOneAuthentication() throws(StoreError) {
        let presigned = ["x-oss-signature", "Signature", "X-Amz-Signature"].count(where: target.has)
        switch presigned + fields.values(of: "authorization").count {
        case 0: throw StoreError(.accessDenied, "Anonymous access is forbidden for this operation.")
        case 1: break
        default: throw StoreError(.invalidArgument, "Only one authentication mechanism may be used in a request.")
        }
    }

    /// Returns the `Name=value` items of an Authorization field after its scheme, in any order, with optional spaces after commas;
    /// `nil` if it has another form.
    static func authorizationItems(_ text: Substring) -> [Substring: Substring]? {
        var items: [Substring: Substring] = [:]
        for item in text.split(separator: ",") {
            let halves = item.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, items.updateValue(halves[1], forKey: halves[0]) == nil else { return nil }
        }
        return items
    }
}

/// The part of a request that signatures cover: everything but its body.
package struct SignedRequest {
    package let method: String
    package let target: RequestTarget
    package let fields: HTTPFields

    package init(method: String, target: RequestTarget, fields: HTTPFields) {
        self.method = method
        self.target = target
        self.fields = fields
    }

    /// `/bucket/key`, decoded, even if the bucket came from the host.
    var resource: String {
        guard let bucket = target.bucket else { return "/" }
        return "/\(bucket)/\(target.key ?? "")"
    }

    /// Returns the fields selected by `isSigned`, sorted by name; the values of a repeated field are joined.
    func canonicalFields(where isSigned: (String) -> Bool) -> String {
        var lines: [String: String] = [:]
        for field in fields.fields where isSigned(field.name) {
            lines[field.name] = lines[field.name].map { "\($0),\(field.value)" } ?? field.value
        }
        return lines.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { "\($0.key):\($0.value)\n" }.joined()
    }
}
