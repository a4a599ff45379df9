import Basics
package import HTTPTypes
package import XML

/// The dialect of Amazon S3, which boto3 and awscli use.
package struct S3Dialect: StoreDialect {
    package let name = "s3"
    package let etags = ETag.Form.s3
    package let requestIDField = "x-amz-request-id"
    package let namespace: String? = "http://s3.amazonaws.com/doc/2006-03-01/"
    package var names: OptionNames { .s3 }
    package var rules: RequestRules { .s3 }
    /// The host and port of the public endpoint; `nil` = the listener's address.
    let publicAuthority: String?

    /// Parameters that distinguish operations in S3.
    private static let subresources: Set<String> = [
        "accelerate", "acl", "analytics", "attributes", "cors", "delete", "encryption", "intelligent-tiering",
        "inventory", "legal-hold", "lifecycle", "list-type", "location", "logging", "metrics", "notification",
        "object-lock", "ownershipControls", "partNumber", "policy", "policyStatus", "publicAccessBlock",
        "renameObject", "replication", "requestPayment", "restore", "retention", "select", "select-type", "tagging",
        "torrent",
        "uploadId", "uploads", "versioning", "versions", "website",
    ]
    package init(publicAuthority: String?) {
        self.publicAuthority = publicAuthority
    }

    /// Whether a request uses S3's dialect, by its signature or else by S3's own fields.
    package static func isUsed(by head: HTTPRequestHead) -> Bool {
        if let authorization = head.fields["authorization"] { return authorization.hasPrefix("AWS") }
        return ["X-Amz-", "AWSAccessKeyId="].contains(where: head.target.contains(bytes:))
            || head.fields.fields.contains { $0.name.hasPrefix("x-amz-") }
    }

    package func authentication(of request: SignedRequest) throws(StoreError) -> Authentication {
        try S3Authentication(request: request, publicAuthority: publicAuthority).read()
    }

    package func operation(of request: SignedRequest) throws(StoreError) -> StoreOperation {
        let fields = options(of: request)
        var parsed = OperationRequest(request)
        parsed.checksum = try Self.multipartChecksum(fields)
        parsed.source = try CopySourceHeader(fields, .s3)
        parsed.expected.size = try Self.size(fields["x-amz-mp-object-size"])
        if request.method == "POST", request.target.has("uploadId") {
            parsed.expected.checksum = try fields.checksum()
            parsed.expected.condition = try WriteCondition(fields)
        }
        let operation = try StoreOperation(parsed, subresources: Self.subresources)
        try RequestRules.s3.check(request, operation.name)
        return operation
    }

    /// Returns the fields with those of the query: in presigned URLs, SDKs put `X-Amz-Meta-NAME` and similar into it, that of
    /// JavaScript in lower case.
    package func options(of request: SignedRequest) -> HTTPFields {
        var fields = request.fields
        for parameter in request.target.parameters where parameter.name.prefix(6).lowercased() == "x-amz-" {
            if fields[parameter.name.lowercased()] == nil { fields.append(parameter.name, parameter.value) }
        }
        return fields
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
        guard let size = Int64(decimal: text) else {
            throw StoreError(.invalidRequest, "Value for x-amz-mp-object-size header is invalid.")
        }
        return size
    }
}

extension S3Dialect {
    package func name(of code: StoreError.Code) -> String { code.s3.name }

    package func status(of code: StoreError.Code) -> Int { code.s3.status }

    /// Returns no fields, because S3 clients only use the status.
    package func fields(insteadOf document: FlatXML) -> HTTPFields { [:] }

    package func fields(ofStored crc64: UInt64, _ checksum: Checksum?) -> HTTPFields {
        checksum.map { Self.fields($0, kind: $0.kind) } ?? [:]
    }

    /// Returns the checksum of the sent bytes if the client parsed for it.
    package func fields(
        ofObject crc64: UInt64, sent checksum: Checksum?, kind: MultipartChecksum.Kind?, isMultipart: Bool,
        requestFields: HTTPFields
    ) -> HTTPFields {
        guard requestFields["x-amz-checksum-mode"]?.uppercased() == "ENABLED", let checksum, let kind else {
            return [:]
        }
        return Self.fields(checksum, kind: kind)
    }

    private static func fields(_ checksum: Checksum, kind: MultipartChecksum.Kind) -> HTTPFields {
        [checksum.algorithm.field: checksum.value, "x-amz-checksum-type": kind.rawValue]
    }

    package func fields(ofKept kept: KeptFields, size: Int64) -> HTTPFields {
        let tags = kept.tags.tags.count
        return tags == 0 ? [:] : ["x-amz-tagging-count": String(tags)]
    }

    package func fields(ofInitiated checksum: MultipartChecksum?) -> HTTPFields {
        guard let checksum else { return [:] }
        return [
            "x-amz-checksum-algorithm": checksum.algorithm.rawValue, "x-amz-checksum-type": checksum.kind.rawValue,
        ]
    }

    package func elements(ofUpload checksum: MultipartChecksum?) -> [FlatXML.Element] {
        guard let checksum else { return [] }
        return [
            FlatXML.Element("ChecksumAlgorithm", checksum.algorithm.rawValue),
            FlatXML.Element("ChecksumType", checksum.kind.rawValue),
        ]
    }

    package func elements(ofCompleted checksum: Checksum?) -> [FlatXML.Element] {
        guard let checksum else { return [] }
        return [
            FlatXML.Element(checksum.algorithm.element, checksum.value),
            FlatXML.Element("ChecksumType", checksum.kind.rawValue),
        ]
    }

    package func elements(ofPart crc64: UInt64, _ checksum: Checksum?) -> [FlatXML.Element] {
        checksum.map { [FlatXML.Element($0.algorithm.element, $0.value)] } ?? []
    }
}
