import Basics
import HTTPTypes
import XML

/// Alibaba Cloud's Object Storage Service, as its SDKs and the devices speak it.
struct OSSDialect: StoreDialect {
    let name = "oss"
    let etags = ETag.Form.oss
    let requestIDField = "x-oss-request-id"
    let namespace: String? = nil

    /// Parameters that are signed as sub-resources and change nothing here.
    private static let ignored: Set<String> = [
        "security-token", "x-oss-request-payer", "x-oss-traffic-limit", "sequential", "response-cache-control",
        "response-content-disposition", "response-content-encoding", "response-content-language",
        "response-content-type", "response-expires",
    ]
    /// Parameters by which operations are told apart.
    private static let subresources = OSSSignatureV1.subresources.subtracting(ignored)

    func authentication(of request: SignedRequest) throws(StoreError) -> Authentication {
        try OSSAuthentication(request: request).read()
    }

    func operation(of request: SignedRequest) throws(StoreError) -> StoreOperation {
        guard request.fields["x-oss-copy-source"] == nil else { throw .notImplemented }
        return try StoreOperation(
            request, subresources: Self.subresources,
            completesAll: request.fields["x-oss-complete-all"]?.lowercased() == "yes")
    }

    func payload(
        of request: SignedRequest, _ framing: HTTPRequestHead.Framing, _ signatures: ChunkSignatures?
    ) throws(StoreError) -> Payload {
        Payload(length: framing.bodyLength, checks: BodyChecks(contentMD5: try request.contentMD5()))
    }

    func name(of code: StoreError.Code) -> String {
        code == .badDigest ? StoreError.Code.invalidDigest.rawValue : code.rawValue
    }

    func status(of code: StoreError.Code) -> Int { code.status }

    /// The document in base64, in two fields: clients look in one or the other, and could not tell a 403 from a 404
    /// without it.
    func fields(insteadOf document: FlatXML) -> HTTPFields {
        let text = Base64.encode(document.bytes)
        return ["x-oss-err": text, "x-oss-error": text]
    }

    func fields(ofStored crc64: UInt64, _ checksum: Checksum?) -> HTTPFields {
        ["x-oss-hash-crc64ecma": String(crc64)]
    }

    func fields(of object: StoredObject, whole: Bool, asked: HTTPFields) -> HTTPFields {
        [
            "x-oss-hash-crc64ecma": String(object.crc64),
            "x-oss-object-type": object.isMultipart ? "Multipart" : "Normal",
        ]
    }

    func fields(ofInitiated multipart: MultipartRecord) -> HTTPFields { [:] }

    func elements(ofCompleted object: StoredObject) -> [FlatXML.Element] { [] }

    func elements(of part: PartRecord) -> [FlatXML.Element] {
        [FlatXML.Element("HashCrc64ecma", String(part.crc64))]
    }
}
