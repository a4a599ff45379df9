/// What a request asks for, read from its method and parameters.
package enum StoreOperation: Equatable {
    case putObject
    case initiateMultipart(MultipartChecksum?)
    case uploadPart(Int, multipartID: String)
    case completeMultipart(String, all: Bool, expected: ExpectedObject)
    case listParts(String, after: Int, limit: Int)
    case abortMultipart(String)
    case headObject
    case getObject
    case deleteObject
    case headBucket
    case listObjects(ObjectListQuery)

    /// Parameters that change what is asked for, and that some operation on an object knows.
    private static let known: Set<String> = ["uploads", "uploadId", "partNumber"]
    /// The same, on a bucket.
    private static let knownOfBucket: Set<String> = ["list-type", "continuation-token"]

    /// - Parameters:
    ///   - subresources: the parameters by which the dialect tells operations apart.
    ///   - completesAll: whether a Complete takes every part that is stored.
    ///   - checksum: what a multipart upload is initiated with.
    ///   - expected: what a Complete says of the whole.
    /// - Throws: `notImplemented` for what the store does not do.
    package init(
        _ request: SignedRequest, subresources: Set<String>, completesAll: Bool = false,
        checksum: MultipartChecksum? = nil, expected: ExpectedObject = ExpectedObject()
    ) throws(StoreError) {
        let target = request.target
        let asked = subresources.intersection(target.parameters.map(\.name))
        guard target.key != nil else {
            self = try Self.onBucket(request, asked)
            return
        }
        guard asked.isSubset(of: Self.known) else { throw .notImplemented }
        switch (request.method, asked) {
        case ("PUT", []): self = .putObject
        case ("GET", []): self = .getObject
        case ("HEAD", []): self = .headObject
        case ("DELETE", []): self = .deleteObject
        case ("POST", ["uploads"]): self = .initiateMultipart(checksum)
        case ("PUT", ["uploadId", "partNumber"]):
            self = .uploadPart(try Self.number("partNumber", target), multipartID: try Self.uploadID(target))
        case ("POST", ["uploadId"]):
            self = .completeMultipart(try Self.uploadID(target), all: completesAll, expected: expected)
        case ("GET", ["uploadId"]):
            self = .listParts(
                try Self.uploadID(target), after: try Self.number("part-number-marker", target, default: 0),
                limit: min(max(try Self.number("max-parts", target, default: 1000), 1), 1000))
        case ("DELETE", ["uploadId"]): self = .abortMultipart(try Self.uploadID(target))
        default: throw .notImplemented
        }
    }

    private static func onBucket(
        _ request: SignedRequest, _ asked: Set<String>
    ) throws(StoreError) -> StoreOperation {
        guard request.target.bucket != nil, asked.isSubset(of: knownOfBucket) else { throw .notImplemented }
        switch request.method {
        case "HEAD" where asked.isEmpty: return .headBucket
        case "GET":
            let limit = try number("max-keys", request.target, default: ObjectListQuery.maximumLimit)
            return .listObjects(try ObjectListQuery(request.target, limit: min(limit, ObjectListQuery.maximumLimit)))
        default: throw .notImplemented
        }
    }

    /// The operation's name in both dialects' documentation.
    package var name: String {
        switch self {
        case .putObject: "PutObject"
        case .initiateMultipart: "InitiateMultipartUpload"
        case .uploadPart: "UploadPart"
        case .completeMultipart: "CompleteMultipartUpload"
        case .listParts: "ListParts"
        case .abortMultipart: "AbortMultipartUpload"
        case .headObject: "HeadObject"
        case .getObject: "GetObject"
        case .deleteObject: "DeleteObject"
        case .headBucket: "HeadBucket"
        case .listObjects: "ListObjects"
        }
    }

    private static func uploadID(_ target: RequestTarget) throws(StoreError) -> String {
        guard let id = target["uploadId"], !id.isEmpty else {
            throw StoreError(.invalidArgument, "The uploadId must be given once.")
        }
        return id
    }

    /// An empty value counts as none.
    private static func number(
        _ name: String, _ target: RequestTarget, default standard: Int? = nil
    ) throws(StoreError) -> Int {
        if let standard, !target.parameters.contains(where: { $0.name == name && !$0.value.isEmpty }) {
            return standard
        }
        guard let text = target[name], let number = Int(text), (0...Int(Int32.max)).contains(number) else {
            throw StoreError(.invalidArgument, "The \(name) must be a number.")
        }
        return number
    }
}

extension StoreError {
    package static let notImplemented = StoreError(
        .notImplemented, "A header or parameter you provided implies functionality that is not implemented.")
}
