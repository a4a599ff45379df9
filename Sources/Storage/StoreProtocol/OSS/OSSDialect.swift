import Basics
package import HTTPTypes
package import XML

/// The dialect of Alibaba Cloud's Object Storage Service, which its SDKs and the devices use.
package struct OSSDialect: StoreDialect {
    package let name = "oss"
    package let etags = ETag.Form.oss
    package let requestIDField = "x-oss-request-id"
    package let namespace: String? = nil
    package var names: OptionNames { .oss }
    package var rules: RequestRules { .oss }

    /// Parameters that are signed as sub-resources but have no effect here.
    private static let ignored: Set<String> = [
        "callback", "callback-var", "security-token", "versionId", "x-oss-async-process", "x-oss-process",
        "x-oss-request-payer", "x-oss-traffic-limit", "sequential", "response-cache-control",
        "response-content-disposition", "response-content-encoding", "response-content-language",
        "response-content-type", "response-expires",
    ]
    /// Parameters that distinguish operations in OSS.
    private static let subresources = OSSSignatureV1.subresources.subtracting(ignored)

    package init() {}

    package func authentication(of request: SignedRequest) throws(StoreError) -> Authentication {
        try OSSAuthentication(request: request).read()
    }

    package func operation(of request: SignedRequest) throws(StoreError) -> StoreOperation {
        let fields = request.fields
        var parsed = OperationRequest(request)
        parsed.completesAll = fields["x-oss-complete-all"]?.lowercased() == "yes"
        parsed.source = try CopySourceHeader(fields, .oss)
        if request.method == "POST", request.target.has("uploadId") {
            parsed.expected.condition = try WriteCondition(fields)
        }
        let operation = try StoreOperation(parsed, subresources: Self.subresources)
        try RequestRules.oss.check(request, operation.name)
        return operation
    }

    package func options(of request: SignedRequest) -> HTTPFields { request.fields }

    package func payload(
        of request: SignedRequest, _ framing: HTTPRequestHead.Framing, _ signatures: ChunkSignatures?
    ) throws(StoreError) -> Payload {
        Payload(length: framing.bodyLength, checks: BodyChecks(contentMD5: try request.contentMD5()))
    }

    package func name(of code: StoreError.Code) -> String {
        code == .badDigest ? StoreError.Code.invalidDigest.rawValue : code.rawValue
    }

    package func status(of code: StoreError.Code) -> Int { code.status }

    /// Returns the document in Base64 in two fields: clients read one or the other, and could not tell a 403 from a 404 without it.
    package func fields(insteadOf document: FlatXML) -> HTTPFields {
        let text = Base64.encode(document.bytes)
        return ["x-oss-err": text, "x-oss-error": text]
    }

    package func fields(ofStored crc64: UInt64, _ checksum: Checksum?) -> HTTPFields {
        ["x-oss-hash-crc64ecma": String(crc64)]
    }

    package func fields(
        ofObject crc64: UInt64, sent checksum: Checksum?, kind: MultipartChecksum.Kind?, isMultipart: Bool,
        requestFields: HTTPFields
    ) -> HTTPFields {
        [
            "x-oss-hash-crc64ecma": String(crc64),
            "x-oss-object-type": isMultipart ? "Multipart" : "Normal",
        ]
    }

    package func fields(ofKept kept: KeptFields, size: Int64) -> HTTPFields {
        var fields: HTTPFields = [:]
        if kept.isAppendable {
            fields.append("x-oss-object-type", "Appendable")
            fields.append("x-oss-next-append-position", String(size))
        }
        let tags = kept.tags.tags.count
        if tags > 0 { fields.append("x-oss-tagging-count", String(tags)) }
        return fields
    }

    package func fields(ofInitiated checksum: MultipartChecksum?) -> HTTPFields { [:] }

    package func elements(ofUpload checksum: MultipartChecksum?) -> [FlatXML.Element] { [] }

    package func elements(ofCompleted checksum: Checksum?) -> [FlatXML.Element] { [] }

    package func elements(ofPart crc64: UInt64, _ checksum: Checksum?) -> [FlatXML.Element] {
        [FlatXML.Element("HashCrc64ecma", String(crc64))]
    }
}
