import Basics
import Crypto

/// What a request says about who sent it: read from its fields or its query, not yet believed.
package struct Authentication {
    package let scheme: any SignatureScheme
    package let accessKeyID: String
    /// Nil where none came: there are no credentials without one here.
    package let securityToken: String?
    package let signature: [UInt8]
    /// The end of a presigned URL.
    package let expiresAt: UnixTime?
    /// When the client says it signed; nil for a presigned URL of OSS's version 1, which does not say.
    package let signedAt: UnixTime?

    /// - Parameter signature: decoded; nil where it could not be. Of the wrong length or alphabet it matches nothing: what
    ///   it is compared with has the right length.
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

    /// What the chunks of the body are signed with, where they are.
    package func chunkSignatures(_ secret: Secret) -> ChunkSignatures? {
        scheme.chunkSignatures(behind: signature, secret: secret)
    }
}

/// A way of signing requests.
package protocol SignatureScheme {
    /// Fields that are signed because the client named them, lower case; there are some that always are.
    var signedFields: [String] { get }

    /// The signatures that `secret` can have made, decoded: several where clients read the rules differently.
    func signatures(of request: SignedRequest, secret: Secret) -> [[UInt8]]

    /// - Parameter signature: of the request.
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

    /// The `Name=value` items of an Authorization field behind its scheme, in any order, blanks allowed after a comma;
    /// nil where it has another form.
    static func authorizationItems(_ text: Substring) -> [Substring: Substring]? {
        var items: [Substring: Substring] = [:]
        for item in text.split(separator: ",") {
            let halves = item.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, items.updateValue(halves[1], forKey: halves[0]) == nil else { return nil }
        }
        return items
    }
}
