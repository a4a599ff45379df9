import Platform

/// What a request says about who sent it: read from its fields or its query, not yet believed.
struct Authentication {
    enum Mechanism {
        case v4(SignatureV4)
        case v1(SignatureV1)
    }

    let mechanism: Mechanism
    let accessKeyID: String
    /// Nil where none came: there are no credentials without one here.
    let securityToken: String?
    let signature: [UInt8]
    /// Of a presigned URL.
    let expiresAt: UnixTime?
    /// When the client says it signed; nil for a presigned URL of version 1, which does not say.
    let signedAt: UnixTime?

    /// - Throws: `accessDenied` for a request without authentication, `invalidArgument` for more than one, or one that
    ///   cannot be read.
    init(_ request: SignedRequest) throws(StoreError) {
        let authorization = request.fields["authorization"]
        let isPresignedV4 = request.target.has("x-oss-signature")
        let isPresignedV1 = request.target.has("Signature")
        switch (authorization, isPresignedV4, isPresignedV1) {
        case (nil, false, false):
            throw StoreError(.accessDenied, "Anonymous access is forbidden for this operation.")
        case (let field?, false, false):
            if field.hasPrefix(SignatureV4.algorithm + " ") {
                try self.init(v4: field.dropFirst(SignatureV4.algorithm.count + 1), request)
            } else if field.hasPrefix("OSS ") {
                try self.init(v1: field.dropFirst(4), request)
            } else {
                throw StoreError(.invalidArgument, "The authorization type is not supported.")
            }
        case (nil, true, false):
            try self.init(presignedV4: request)
        case (nil, false, true):
            try self.init(presignedV1: request)
        default:
            throw StoreError(.invalidArgument, "Only one authentication mechanism may be used in a request.")
        }
    }

    private init(
        mechanism: Mechanism, accessKeyID: String, securityToken: String?, signature: [UInt8]?,
        expiresAt: UnixTime? = nil, signedAt: UnixTime?
    ) throws(StoreError) {
        // A signature of the wrong length or alphabet cannot match; what it is compared with has the right length.
        self.signature = signature ?? []
        self.mechanism = mechanism
        self.accessKeyID = accessKeyID
        self.securityToken = securityToken
        self.expiresAt = expiresAt
        self.signedAt = signedAt
    }

    /// Whether `secret` made the signature. Compares decoded bytes in constant time.
    func isSigned(_ request: SignedRequest, by secret: Secret) -> Bool {
        switch mechanism {
        case .v4(let v4):
            constantTimeEqual(v4.signature(of: request, secret: secret), signature)
        case .v1(let v1):
            SignatureV1.CanonicalForm.allCases.contains {
                constantTimeEqual(v1.signature(of: request, form: $0, secret: secret), signature)
            }
        }
    }
}

extension Authentication {
    private static func malformed(_ what: String) -> StoreError {
        StoreError(.invalidArgument, "The \(what) of the request's authentication is invalid.")
    }

    /// `Credential=AK/scope[,AdditionalHeaders=a;b],Signature=…`, in any order, blanks allowed after a comma.
    private init(v4 field: Substring, _ request: SignedRequest) throws(StoreError) {
        var items: [Substring: Substring] = [:]
        for item in field.split(separator: ",") {
            let halves = item.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, items.updateValue(halves[1], forKey: halves[0]) == nil else {
                throw Self.malformed("Authorization field")
            }
        }
        guard let credential = items["Credential"], let signature = items["Signature"] else {
            throw Self.malformed("Authorization field")
        }
        // The date must be among what is signed, as every x-oss-* field is.
        guard let date = request.fields["x-oss-date"] else { throw Self.malformed("x-oss-date") }
        if let payload = request.fields["x-oss-content-sha256"], payload != SignatureV4.payload {
            throw Self.malformed("x-oss-content-sha256")
        }
        try self.init(
            credential: credential, date: date, additional: items["AdditionalHeaders"] ?? "", signature: signature,
            token: request.fields["x-oss-security-token"], lifetime: nil)
    }

    private init(presignedV4 request: SignedRequest) throws(StoreError) {
        let target = request.target
        guard target["x-oss-signature-version"] == SignatureV4.algorithm, let signature = target["x-oss-signature"],
            let credential = target["x-oss-credential"], let date = target["x-oss-date"],
            let lifetime = target["x-oss-expires"].flatMap(Int64.init), (1...604_800).contains(lifetime)
        else { throw Self.malformed("query") }
        try self.init(
            credential: credential[...], date: date, additional: target["x-oss-additional-headers"]?[...] ?? "",
            signature: signature[...], token: target["x-oss-security-token"], lifetime: lifetime)
    }

    private init(
        credential: Substring, date: String, additional: Substring, signature: Substring, token: String?,
        lifetime: Int64?
    ) throws(StoreError) {
        let words = credential.split(separator: "/", omittingEmptySubsequences: false)
        guard words.count == 5, words[3] == "oss", words[4] == "aliyun_v4_request" else {
            throw Self.malformed("credential")
        }
        guard let signedAt = Timestamps.parseBasic(date), date.hasPrefix(words[1]), words[1].utf8.count == 8 else {
            throw Self.malformed("date")
        }
        let names = additional.split(separator: ";").map { $0.lowercased() }.sorted()
        let scope = SignatureV4.Scope(day: String(words[1]), region: String(words[2]))
        try self.init(
            mechanism: .v4(SignatureV4(scope: scope, date: date, additionalFields: names)),
            accessKeyID: String(words[0]), securityToken: token, signature: Hex.decode(signature),
            expiresAt: lifetime.map { signedAt.adding(seconds: $0) }, signedAt: signedAt)
    }

    /// `AK:signature`. The token may be unsigned, in `security-token`: it proves itself, and the secret derives from it.
    private init(v1 field: Substring, _ request: SignedRequest) throws(StoreError) {
        let halves = field.split(separator: ":", omittingEmptySubsequences: false)
        guard halves.count == 2 else { throw Self.malformed("Authorization field") }
        guard let date = request.fields["x-oss-date"] ?? request.fields["date"],
            let signedAt = Timestamps.parseHTTP(date) ?? Timestamps.parseBasic(date)
        else { throw Self.malformed("date") }
        try self.init(
            mechanism: .v1(SignatureV1(date: date)), accessKeyID: String(halves[0]),
            securityToken: request.fields["x-oss-security-token"] ?? request.fields["security-token"],
            signature: Base64.decode(halves[1]), signedAt: signedAt)
    }

    private init(presignedV1 request: SignedRequest) throws(StoreError) {
        let target = request.target
        guard let accessKeyID = target["OSSAccessKeyId"], let signature = target["Signature"],
            let expiry = target["Expires"], let seconds = Int64(expiry), seconds >= 0
        else { throw Self.malformed("query") }
        try self.init(
            mechanism: .v1(SignatureV1(date: expiry)), accessKeyID: accessKeyID,
            securityToken: target["security-token"], signature: Base64.decode(signature),
            expiresAt: UnixTime(seconds: seconds), signedAt: nil)
    }
}
