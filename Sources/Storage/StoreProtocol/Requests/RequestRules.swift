import HTTPTypes

/// The treatment of one header field or query parameter that OSS or S3 documents.
package struct RequestRule: Sendable {
    package enum Treatment: Sendable, Equatable {
        /// Implemented for these operations, without a meaning for others. Empty = all operations for which the protocol defines
        /// it.
        case honored(on: Set<String> = [])
        /// Implemented for these operations, and refused for all others that write: a condition must never be ignored.
        case honoredOnly(on: Set<String>)
        /// Only these values, in lower case, are accepted; any other is refused with the code.
        case only([String], StoreError.Code)
        case refused(StoreError.Code)
        /// Without effect on the stored object or the response.
        case irrelevant
    }

    /// The name in lower case. A final `*` matches all names with this beginning.
    package let name: String
    package let treatment: Treatment
    /// A hint for the client that is refused; empty = none.
    package let hint: String

    /// Whether the rule can refuse a request.
    fileprivate var canRefuse: Bool {
        switch treatment {
        case .honored, .irrelevant: false
        case .honoredOnly, .only, .refused: true
        }
    }

    init(_ name: String, _ treatment: Treatment, _ hint: String = "") {
        self.name = name
        self.treatment = treatment
        self.hint = hint
    }
}

/// The header fields and query parameters that affect the stored object or the response: each is implemented or refused, and none
/// is ignored with a successful response.
///
/// Sources: the API references of Amazon S3 (PutObject, CopyObject, CreateMultipartUpload, UploadPart, UploadPartCopy,
/// CompleteMultipartUpload, GetObject, HeadObject, DeleteObject, DeleteObjects, ListObjectsV2) and of OSS (the same).
package struct RequestRules: Sendable {
    package let rules: [RequestRule]
    /// The parameters with a meaning among those of the protocol's namespace; `nil` = all fields may be parameters as well, as in
    /// S3's presigned URLs.
    private let parameters: Set<String>?
    /// A bit for each length of a name that can be refused, except names that begin with `x-`. Most fields of most requests have
    /// another length, and need no lookup.
    private let lengths: UInt64
    private let byName: [String: RequestRule]
    /// The names that end with `*`, without it.
    private let beginnings: [String]

    init(_ rules: [RequestRule], parameters: Set<String>? = nil) {
        self.rules = rules
        self.parameters = parameters
        lengths = rules.filter { $0.canRefuse && !$0.name.hasPrefix("x-") }
            .reduce(0) { $0 | 1 << UInt64($1.name.utf8.count) }
        byName = Dictionary(rules.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        beginnings = rules.filter { $0.name.hasSuffix("*") }.map { String($0.name.dropLast()) }
    }

    /// - Throws: the error for the first refused name.
    package func check(_ request: SignedRequest, _ operation: StoreOperation) throws(StoreError) {
        let (fields, parameters) = (request.fields.fields, request.target.parameters)
        for index in fields.indices where mayRefuse(fields[index].name) {
            try check(fields[index].name, fields[index].value, request.method, operation)
        }
        for index in parameters.indices {
            // Presigned URLs of S3 use `X-Amz-`.
            let name = parameters[index].name.lowercased()
            if mayRefuse(name) { try check(name, parameters[index].value, request.method, operation) }
        }
    }

    /// Refuses the names of the protocols' namespaces that no rule has, in a request that writes: whatever they stand for would be
    /// passed over with a successful response.
    ///
    /// For the requests of static keys, which are those of operators' tools. Devices in the field keep sending what they always sent:
    /// their requests are only checked by ``check(_:_:)``.
    package func requireKnown(_ request: SignedRequest, _ operation: StoreOperation) throws(StoreError) {
        guard Self.writes(request.method) else { return }
        let parameters = request.target.parameters.map { $0.name.lowercased() }
        let unknown =
            request.fields.fields.map(\.name).first { isInNamespace($0) && rule(for: $0) == nil }
            ?? parameters.first { isInNamespace($0) && !isParameter($0) }
        if let unknown { throw .notImplemented("\(unknown.prefix(100)) of \(operation.name)", "Leave it out.") }
    }

    private func isInNamespace(_ name: String) -> Bool { Self.namespaces.contains(where: name.hasPrefix) }

    private func isParameter(_ name: String) -> Bool { parameters?.contains(name) ?? (rule(for: name) != nil) }

    private static let namespaces = ["x-amz-", "x-oss-"]

    private static func writes(_ method: String) -> Bool { ["PUT", "POST", "DELETE"].contains(method) }

    private func check(
        _ name: String, _ value: String, _ method: String, _ operation: StoreOperation
    ) throws(StoreError) {
        guard let rule = rule(for: name) else { return }
        switch rule.treatment {
        case .honored, .irrelevant: return
        case .honoredOnly(let operations):
            guard Self.writes(method), !operations.contains(operation.name) else { return }
            throw .notImplemented("\(name) of \(operation.name)", rule.hint)
        case .only(let values, let code):
            guard !values.contains(value.lowercased()) else { return }
            let possible = values.filter { !$0.isEmpty }.joined(separator: " or ")
            let text = "\(operation.name): \(name) can only be \(possible) in this store." + Self.sentence(rule.hint)
            throw StoreError(code, text)
        case .refused(.notImplemented): throw .notImplemented("\(name) of \(operation.name)", rule.hint)
        case .refused(let code):
            throw StoreError(code, "\(operation.name): this store does not support \(name)." + Self.sentence(rule.hint))
        }
    }

    private func mayRefuse(_ name: String) -> Bool {
        switch name {
        // Every request has these fields: they belong to its authentication.
        case "x-oss-date", "x-oss-content-sha256", "x-oss-security-token", "x-amz-date", "x-amz-content-sha256",
            "x-amz-security-token":
            return false
        default:
            let length = UInt64(name.utf8.count)
            return name.hasPrefix("x-") || length < 64 && lengths & 1 << length != 0
        }
    }

    func rule(for name: String) -> RequestRule? {
        if let rule = byName[name] { return rule }
        guard name.hasPrefix("x-") else { return nil }
        for beginning in beginnings where name.hasPrefix(beginning) { return byName[beginning + "*"] }
        return nil
    }

    private static func sentence(_ hint: String) -> String { hint.isEmpty ? "" : " \(hint)" }
}

extension StoreError {
    /// - Parameters:
    ///   - what: the operation, or the header field or parameter and its operation.
    ///   - hint: a sentence with an alternative.
    package static func notImplemented(_ what: String, _ hint: String = "") -> StoreError {
        StoreError(.notImplemented, "This store does not implement \(what)." + (hint.isEmpty ? "" : " \(hint)"))
    }

    package static let sourceConditionFailed = StoreError(
        .preconditionFailed, "The source does not fulfill the conditions of the copy.")
    package static let uploadIsReadOnly = StoreError(
        .accessDenied, "A static key cannot delete what a device uploaded.")
}

extension RequestRules {
    private static let makesObjects: Set = [
        "PutObject", "InitiateMultipartUpload", "CopyObject", "AppendObject", "PostObject",
    ]
    private static let unencrypted = "Objects are stored without encryption by the store: leave the setting out."
    private static let unlocked = "Objects have neither locks nor holds: leave the setting out."

    /// Fields and parameters with the same name in both protocols.
    private static let shared: [RequestRule] = [
        RequestRule("cache-control", .honored(on: makesObjects)),
        RequestRule("content-disposition", .honored(on: makesObjects)),
        RequestRule("content-encoding", .honored(on: makesObjects)),
        RequestRule("content-language", .honored(on: makesObjects)),
        RequestRule("content-type", .honored(on: makesObjects)),
        RequestRule("expires", .honored(on: makesObjects)),
        RequestRule("content-md5", .honored()),
        RequestRule("range", .honored(on: ["GetObject"])),
        RequestRule("if-range", .honored(on: ["GetObject"])),
        RequestRule(
            "if-match",
            .honoredOnly(on: ["PutObject", "CompleteMultipartUpload", "CopyObject", "DeleteObject"]),
            "Conditions on a write are possible with PutObject, CopyObject and CompleteMultipartUpload."),
        RequestRule(
            "if-none-match", .honoredOnly(on: ["PutObject", "CompleteMultipartUpload", "CopyObject"]),
            "Conditions on a write are possible with PutObject, CopyObject and CompleteMultipartUpload."),
        RequestRule("if-modified-since", .honoredOnly(on: []), "Writes take conditions on ETags only."),
        RequestRule("if-unmodified-since", .honoredOnly(on: []), "Writes take conditions on ETags only."),
        RequestRule("response-cache-control", .honored(on: ["GetObject", "HeadObject"])),
        RequestRule("response-content-disposition", .honored(on: ["GetObject", "HeadObject"])),
        RequestRule("response-content-encoding", .honored(on: ["GetObject", "HeadObject"])),
        RequestRule("response-content-language", .honored(on: ["GetObject", "HeadObject"])),
        RequestRule("response-content-type", .honored(on: ["GetObject", "HeadObject"])),
        RequestRule("response-expires", .honored(on: ["GetObject", "HeadObject"])),
        RequestRule("versionid", .only(["", "null"], .noSuchVersion), "The store keeps no versions."),
    ]

    package static let s3 = RequestRules(
        shared + [
            RequestRule("x-amz-meta-*", .honored(on: makesObjects)),
            RequestRule("x-amz-tagging", .honoredOnly(on: makesObjects)),
            RequestRule("x-amz-tagging-directive", .honored(on: ["CopyObject"])),
            RequestRule("x-amz-metadata-directive", .honored(on: ["CopyObject"])),
            RequestRule("x-amz-copy-source", .honoredOnly(on: ["CopyObject", "UploadPartCopy"])),
            RequestRule("x-amz-copy-source-range", .honoredOnly(on: ["UploadPartCopy"])),
            RequestRule("x-amz-copy-source-if-match", .honored()),
            RequestRule("x-amz-copy-source-if-none-match", .honored()),
            RequestRule("x-amz-copy-source-if-modified-since", .honored()),
            RequestRule("x-amz-copy-source-if-unmodified-since", .honored()),
            RequestRule("x-amz-copy-source-server-side-encryption*", .refused(.notImplemented), unencrypted),
            RequestRule("x-amz-server-side-encryption*", .refused(.notImplemented), unencrypted),
            RequestRule(
                "x-amz-acl", .only(["private", "bucket-owner-full-control"], .accessControlListNotSupported),
                "Leave the ACL out: object_store.static_keys decides about access."),
            RequestRule(
                "x-amz-grant-*", .refused(.accessControlListNotSupported),
                "Leave the grants out: object_store.static_keys decides about access."),
            RequestRule(
                "x-amz-storage-class", .only(["standard"], .invalidStorageClass),
                "There is one storage class: leave the setting out."),
            RequestRule("x-amz-object-lock-*", .refused(.notImplemented), unlocked),
            RequestRule("x-amz-bypass-governance-retention", .refused(.notImplemented), unlocked),
            RequestRule("x-amz-mfa", .refused(.notImplemented)),
            RequestRule("x-amz-website-redirect-location", .refused(.notImplemented)),
            RequestRule(
                "x-amz-write-offset-bytes", .refused(.notImplemented), "OSS's AppendObject is implemented."),
            RequestRule("x-amz-if-match-last-modified-time", .refused(.notImplemented)),
            RequestRule("x-amz-if-match-size", .refused(.notImplemented)),
            RequestRule("x-amz-rename-source*", .refused(.notImplemented), "Copy the object and delete the other one."),
            RequestRule("x-amz-expected-bucket-owner", .only([owner], .accessDenied), "The owner has this id."),
            RequestRule("x-amz-source-expected-bucket-owner", .only([owner], .accessDenied), "The owner has this id."),
            RequestRule(
                "x-amz-checksum-algorithm", .honoredOnly(on: ["InitiateMultipartUpload"]),
                "A copy keeps the checksum of its source."),
            RequestRule("x-amz-checksum-type", .honored(on: ["InitiateMultipartUpload", "CompleteMultipartUpload"])),
            RequestRule("x-amz-checksum-mode", .honored(on: ["GetObject", "HeadObject"])),
            RequestRule("x-amz-checksum-crc32", .honored()),
            RequestRule("x-amz-checksum-crc32c", .honored()),
            RequestRule("x-amz-checksum-crc64nvme", .honored()),
            RequestRule("x-amz-checksum-sha1", .honored()),
            RequestRule("x-amz-checksum-sha256", .honored()),
            RequestRule(
                "x-amz-checksum-*", .refused(.notImplemented),
                "CRC32, CRC32C, CRC64NVME, SHA1 and SHA256 are implemented."),
            RequestRule("x-amz-trailer", .honored()),
            RequestRule("x-amz-decoded-content-length", .honored()),
            // Authentication, in the header, in the query of presigned URLs, and in forms.
            RequestRule("x-amz-content-sha256", .honored()),
            RequestRule("x-amz-date", .honored()),
            RequestRule("x-amz-security-token", .honored()),
            RequestRule("x-amz-algorithm", .honored()),
            RequestRule("x-amz-credential", .honored()),
            RequestRule("x-amz-expires", .honored()),
            RequestRule("x-amz-signature", .honored()),
            RequestRule("x-amz-signedheaders", .honored()),
            RequestRule("x-amz-mp-object-size", .honored(on: ["CompleteMultipartUpload"])),
            RequestRule("x-amz-object-attributes", .honored(on: ["GetObjectAttributes"])),
            RequestRule("x-amz-max-parts", .honored(on: ["GetObjectAttributes"])),
            RequestRule("x-amz-part-number-marker", .honored(on: ["GetObjectAttributes"])),
            RequestRule("x-amz-optional-object-attributes", .irrelevant),
            RequestRule("x-amz-request-payer", .irrelevant),
            // Names of clients, of their retries, and of proxies in front.
            RequestRule("x-amz-sdk-*", .irrelevant),
            RequestRule("x-amz-user-agent", .irrelevant),
            RequestRule("x-amz-api-version", .irrelevant),
            RequestRule("x-amz-cf-id", .irrelevant),
            RequestRule("x-amz-object-ownership", .irrelevant),
            RequestRule("x-amz-bucket-object-lock-enabled", .only(["false"], .notImplemented), unlocked),
        ])

    package static let oss = RequestRules(
        shared + [
            RequestRule("x-oss-meta-*", .honored(on: makesObjects)),
            RequestRule("x-oss-tagging", .honoredOnly(on: makesObjects)),
            RequestRule("x-oss-tagging-directive", .honored(on: ["CopyObject"])),
            RequestRule("x-oss-metadata-directive", .honored(on: ["CopyObject"])),
            RequestRule(
                "x-oss-forbid-overwrite",
                .honoredOnly(on: makesObjects.union(["CompleteMultipartUpload"])),
                "Use it with PutObject, CopyObject and multipart uploads."),
            RequestRule("x-oss-copy-source", .honoredOnly(on: ["CopyObject", "UploadPartCopy"])),
            RequestRule("x-oss-copy-source-range", .honoredOnly(on: ["UploadPartCopy"])),
            RequestRule("x-oss-copy-source-if-match", .honored()),
            RequestRule("x-oss-copy-source-if-none-match", .honored()),
            RequestRule("x-oss-copy-source-if-modified-since", .honored()),
            RequestRule("x-oss-copy-source-if-unmodified-since", .honored()),
            RequestRule("x-oss-server-side-*", .refused(.notImplemented), unencrypted),
            RequestRule(
                "x-oss-object-acl", .only(["private", "default"], .accessControlListNotSupported),
                "Leave the ACL out: object_store.static_keys decides about access."),
            RequestRule(
                "x-oss-acl", .only(["private"], .accessControlListNotSupported),
                "Leave the ACL out: object_store.static_keys decides about access."),
            RequestRule(
                "x-oss-storage-class", .only(["standard"], .invalidStorageClass),
                "There is one storage class: leave the setting out."),
            RequestRule("x-oss-object-worm-*", .refused(.notImplemented), unlocked),
            RequestRule(
                "x-oss-callback*", .refused(.notImplemented), "Use webhooks: see docs/events.md."),
            RequestRule(
                "callback", .refused(.notImplemented), "Use webhooks: see docs/events.md."),
            RequestRule("callback-var", .refused(.notImplemented)),
            RequestRule("x-oss-process", .refused(.notImplemented), "The store does not process images or documents."),
            RequestRule("x-oss-async-process", .refused(.notImplemented)),
            RequestRule("x-oss-persistent-headers", .refused(.notImplemented), "Use x-oss-meta- fields."),
            RequestRule("x-oss-symlink-target", .refused(.notImplemented)),
            RequestRule("x-oss-complete-all", .only(["yes", "no", ""], .invalidArgument)),
            RequestRule("x-oss-range-behavior", .only(["standard"], .invalidArgument)),
            RequestRule("x-oss-traffic-limit", .irrelevant),
            RequestRule("x-oss-request-payer", .irrelevant),
            RequestRule("x-oss-user-agent", .irrelevant),
            RequestRule(
                "x-oss-content-type", .honoredOnly(on: ["PostObject"]), "Use Content-Type."),
            // Authentication, in the header, in the query of presigned URLs, and in forms.
            RequestRule("x-oss-date", .honored()),
            RequestRule("x-oss-content-sha256", .honored()),
            RequestRule("x-oss-security-token", .honored()),
            RequestRule("x-oss-signature-version", .honored()),
            RequestRule("x-oss-credential", .honored()),
            RequestRule("x-oss-expires", .honored()),
            RequestRule("x-oss-additional-headers", .honored()),
            RequestRule("x-oss-signature", .honored()),
            RequestRule("sequential", .irrelevant),
        ],
        parameters: [
            "x-oss-signature-version", "x-oss-credential", "x-oss-date", "x-oss-expires", "x-oss-additional-headers",
            "x-oss-signature", "x-oss-security-token", "x-oss-traffic-limit", "x-oss-request-payer", "x-oss-process",
            "x-oss-async-process",
        ])

    /// The id of the owner of every bucket and object, in the responses of both protocols.
    package static let owner = "data-gateway"
}
