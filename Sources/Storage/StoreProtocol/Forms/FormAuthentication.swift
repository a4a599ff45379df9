import Basics
package import Crypto
package import HTTPTypes

/// The signature of a form's policy: S3's version 4, and OSS's versions 4 and 1. The text that is signed is the policy as the form
/// has it.
package struct FormAuthentication {
    package let accessKeyID: String
    package let isS3: Bool
    private let signature: [UInt8]
    private let policy: String
    private let scope: SignatureV4.Scope?

    /// - Throws: `accessDenied` for a form that nobody signed, `invalidArgument` for one whose signature cannot be read,
    ///   `invalidRequest` for one with a version of signatures that is not supported.
    package init(_ fields: HTTPFields) throws(StoreError) {
        guard let policy = fields["policy"] else {
            throw StoreError(.accessDenied, "PostObject: the form must have a signed policy.")
        }
        self.policy = policy
        if let text = fields["x-amz-credential"] ?? fields["x-oss-credential"] {
            isS3 = fields["x-amz-credential"] != nil
            let version = isS3 ? SignatureV4.s3 : .oss
            let prefix = isS3 ? "x-amz-" : "x-oss-"
            let algorithm = fields[isS3 ? "x-amz-algorithm" : "x-oss-signature-version"]
            guard algorithm == version.algorithm, let (id, scope) = version.credential(text),
                let signature = fields[prefix + "signature"].flatMap({ Hex.decode($0) })
            else { throw StoreError(.invalidArgument, "PostObject: the form's credential or signature is malformed.") }
            accessKeyID = id
            self.scope = scope
            self.signature = signature
        } else {
            // Version 2 of S3, which boto3 uses for forms by default.
            guard fields["awsaccesskeyid"] == nil else { throw S3Authentication.otherMechanism }
            guard let id = fields["ossaccesskeyid"], let signature = fields["signature"].flatMap({ Base64.decode($0) })
            else { throw StoreError(.accessDenied, "PostObject: the form must name who signed its policy.") }
            isS3 = false
            accessKeyID = id
            scope = nil
            self.signature = signature
        }
    }

    package func isSigned(by secret: Secret) -> Bool {
        let text = Array(policy.utf8)
        guard let scope else { return constantTimeEqual(HMAC.sha1(key: secret.exposed, text), signature) }
        let version = isS3 ? SignatureV4.s3 : .oss
        return constantTimeEqual(HMAC.sha256(key: version.signingKey(scope, secret), text), signature)
    }
}
