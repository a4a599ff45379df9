import HTTPTypes

/// Amazon S3, as boto3 and awscli speak it.
package struct S3Dialect: StoreDialect {
    package let name = "s3"
    package let etags = ETag.Form.s3
    package let requestIDField = "x-amz-request-id"
    package let namespace: String? = "http://s3.amazonaws.com/doc/2006-03-01/"
    /// The host and port of the endpoint that clients are told; nil = where the store listens.
    let publicAuthority: String?

    /// Parameters by which S3 tells operations apart.
    private static let subresources: Set<String> = [
        "accelerate", "acl", "analytics", "attributes", "cors", "delete", "encryption", "intelligent-tiering",
        "inventory", "legal-hold", "lifecycle", "list-type", "location", "logging", "metrics", "notification",
        "object-lock", "ownershipControls", "partNumber", "policy", "policyStatus", "publicAccessBlock",
        "renameObject", "replication", "requestPayment", "restore", "retention", "select", "select-type", "tagging",
        "torrent",
        "uploadId", "uploads", "versionId", "versioning", "versions", "website",
    ]
    /// Fields that ask for what is not done here, by their beginnings: to pass over one would be to say that it was done.
    private static let refused = [
        "x-amz-bypass-governance", "x-amz-copy-source", "x-amz-grant-", "x-amz-object-lock",
        "x-amz-server-side-encryption", "x-amz-tagging", "x-amz-website", "x-amz-write-offset",
    ]

    package init(publicAuthority: String?) {
        self.publicAuthority = publicAuthority
    }

    /// Whether a request speaks S3: by how it is signed, or else by S3's own fields.
    package static func isSpoken(by head: HTTPRequestHead) -> Bool {
        if let authorization = head.fields["authorization"] { return authorization.hasPrefix("AWS") }
        return ["X-Amz-", "AWSAccessKeyId="].contains(where: head.target.utf8.contains(bytes:))
            || head.fields.fields.contains { $0.name.hasPrefix("x-amz-") }
    }

    package func authentication(of request: SignedRequest) throws(StoreError) -> Authentication {
        try S3Authentication(request: request, publicAuthority: publicAuthority).read()
    }

    package func operation(of request: SignedRequest) throws(StoreError) -> StoreOperation {
        let fields = request.fields
        // In a presigned URL they may stand in the query.
        let names = fields.fields.map(\.name) + request.target.parameters.map { $0.name.lowercased() }
        let isConditionalWrite =
            (fields["if-match"] ?? fields["if-none-match"]) != nil && ["PUT", "POST"].contains(request.method)
        guard !isConditionalWrite, !names.contains(where: { Self.refused.contains(where: $0.hasPrefix) }) else {
            throw .notImplemented
        }
        let expected = try ExpectedObject(
            size: Self.size(fields["x-amz-mp-object-size"]),
            checksum: request.target.has("uploadId") && request.method == "POST" ? fields.checksum() : nil)
        return try StoreOperation(
            request, subresources: Self.subresources, checksum: Self.multipartChecksum(fields), expected: expected)
    }

    package func payload(
        of request: SignedRequest, _ framing: HTTPRequestHead.Framing, _ signatures: ChunkSignatures?
    ) throws(StoreError) -> Payload {
        try S3Payload(request: request, framing: framing, signatures: signatures).read()
    }

    private static func multipartChecksum(_ fields: HTTPFields) throws(StoreError) -> MultipartChecksum? {
        guard let name = fields["x-amz-checksum-algorithm"] else { return nil }
        let kind = fields["x-amz-checksum-type"].map(MultipartChecksum.Kind.init)
        guard let algorithm = ChecksumAlgorithm(rawValue: name.uppercased()), kind != .some(nil),
            let checksum = MultipartChecksum(algorithm, kind ?? nil)
        else {
            throw StoreError(.invalidRequest, "This checksum algorithm, or its type, is not supported.")
        }
        return checksum
    }

    private static func size(_ text: String?) throws(StoreError) -> Int64? {
        guard let text else { return nil }
        guard let size = Int64(text) else {
            throw StoreError(.invalidRequest, "Value for x-amz-mp-object-size header is invalid.")
        }
        return size
    }
}
