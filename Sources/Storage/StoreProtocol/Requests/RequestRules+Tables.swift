/// The tables of the two protocols.
extension RequestRules {
    private static let makesObjects = OperationRule.names(where: \.keepsFields)
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
        RequestRule("range", .honored(on: [.getObject])),
        RequestRule("if-range", .honored(on: [.getObject])),
        RequestRule(
            "if-match",
            .honoredOnly(on: [.putObject, .completeMultipartUpload, .copyObject, .deleteObject]),
            "Conditions on a write are possible with PutObject, CopyObject and CompleteMultipartUpload."),
        RequestRule(
            "if-none-match", .honoredOnly(on: [.putObject, .completeMultipartUpload, .copyObject]),
            "Conditions on a write are possible with PutObject, CopyObject and CompleteMultipartUpload."),
        RequestRule("if-modified-since", .honoredOnly(on: []), "Writes take conditions on ETags only."),
        RequestRule("if-unmodified-since", .honoredOnly(on: []), "Writes take conditions on ETags only."),
        RequestRule("response-cache-control", .honored(on: [.getObject, .headObject])),
        RequestRule("response-content-disposition", .honored(on: [.getObject, .headObject])),
        RequestRule("response-content-encoding", .honored(on: [.getObject, .headObject])),
        RequestRule("response-content-language", .honored(on: [.getObject, .headObject])),
        RequestRule("response-content-type", .honored(on: [.getObject, .headObject])),
        RequestRule("response-expires", .honored(on: [.getObject, .headObject])),
        RequestRule("versionid", .only(["", "null"], .noSuchVersion), "The store keeps no versions."),
    ]

    package static let s3 = RequestRules(
        shared + [
            RequestRule("x-amz-meta-*", .honored(on: makesObjects)),
            RequestRule("x-amz-tagging", .honoredOnly(on: makesObjects)),
            RequestRule("x-amz-tagging-directive", .honored(on: [.copyObject])),
            RequestRule("x-amz-metadata-directive", .honored(on: [.copyObject])),
            RequestRule("x-amz-copy-source", .honoredOnly(on: [.copyObject, .uploadPartCopy])),
            RequestRule("x-amz-copy-source-range", .honoredOnly(on: [.uploadPartCopy])),
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
                "x-amz-write-offset-bytes", .refused(.notImplemented), "Use AppendObject of OSS."),
            RequestRule("x-amz-if-match-last-modified-time", .refused(.notImplemented)),
            RequestRule("x-amz-if-match-size", .refused(.notImplemented)),
            RequestRule("x-amz-rename-source*", .refused(.notImplemented), "Copy the object and delete the other one."),
            RequestRule("x-amz-expected-bucket-owner", .only([owner], .accessDenied), "Every bucket has this owner."),
            RequestRule(
                "x-amz-source-expected-bucket-owner", .only([owner], .accessDenied), "Every bucket has this owner."),
            RequestRule(
                "x-amz-checksum-algorithm", .honoredOnly(on: [.initiateMultipartUpload, .copyObject]),
                "Other operations have x-amz-sdk-checksum-algorithm."),
            RequestRule("x-amz-checksum-type", .honored(on: [.initiateMultipartUpload, .completeMultipartUpload])),
            RequestRule("x-amz-checksum-mode", .honored(on: [.getObject, .headObject])),
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
            RequestRule("x-amz-mp-object-size", .honored(on: [.completeMultipartUpload])),
            RequestRule("x-amz-object-attributes", .honored(on: [.getObjectAttributes])),
            RequestRule("x-amz-max-parts", .honored(on: [.getObjectAttributes])),
            RequestRule("x-amz-part-number-marker", .honored(on: [.getObjectAttributes])),
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
            RequestRule("x-oss-tagging-directive", .honored(on: [.copyObject])),
            RequestRule("x-oss-metadata-directive", .honored(on: [.copyObject])),
            RequestRule(
                "x-oss-forbid-overwrite",
                .honoredOnly(on: makesObjects.union([.completeMultipartUpload])),
                "Use it with PutObject, CopyObject and multipart uploads."),
            RequestRule("x-oss-copy-source", .honoredOnly(on: [.copyObject, .uploadPartCopy])),
            RequestRule("x-oss-copy-source-range", .honoredOnly(on: [.uploadPartCopy])),
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
                "x-oss-content-type", .honoredOnly(on: [.postObject]), "Use Content-Type."),
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
