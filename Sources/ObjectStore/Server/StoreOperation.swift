/// What a request asks for, read from its method and parameters.
enum StoreOperation: Equatable {
    case putObject
    case initiateMultipart
    case uploadPart(Int, multipartID: String)
    case completeMultipart(String, all: Bool)
    case listParts(String, after: Int, limit: Int)
    case abortMultipart(String)
    case headObject
    case getObject

    /// Parameters that change what is asked for, and that some operation here knows.
    private static let known: Set<String> = ["uploads", "uploadId", "partNumber"]
    /// Parameters that are signed as sub-resources and change nothing here.
    private static let ignored: Set<String> = [
        "security-token", "x-oss-request-payer", "x-oss-traffic-limit", "sequential", "response-cache-control",
        "response-content-disposition", "response-content-encoding", "response-content-language",
        "response-content-type", "response-expires",
    ]

    /// - Throws: `notImplemented` for what the store does not do, rather than doing something else.
    init(_ request: SignedRequest) throws(StoreError) {
        let target = request.target
        let asked = SignatureV1.subresources.intersection(target.parameters.map(\.name)).subtracting(Self.ignored)
        guard target.key != nil, asked.isSubset(of: Self.known), request.fields["x-oss-copy-source"] == nil else {
            throw Self.notImplemented
        }
        switch (request.method, asked) {
        case ("PUT", []): self = .putObject
        case ("GET", []): self = .getObject
        case ("HEAD", []): self = .headObject
        case ("POST", ["uploads"]): self = .initiateMultipart
        case ("PUT", ["uploadId", "partNumber"]):
            self = .uploadPart(try Self.number("partNumber", target), multipartID: try Self.uploadID(target))
        case ("POST", ["uploadId"]):
            let all = request.fields["x-oss-complete-all"]?.lowercased() == "yes"
            self = .completeMultipart(try Self.uploadID(target), all: all)
        case ("GET", ["uploadId"]):
            self = .listParts(
                try Self.uploadID(target), after: try Self.number("part-number-marker", target, default: 0),
                limit: min(max(try Self.number("max-parts", target, default: 1000), 1), 1000))
        case ("DELETE", ["uploadId"]): self = .abortMultipart(try Self.uploadID(target))
        default: throw Self.notImplemented
        }
    }

    private static let notImplemented = StoreError(
        .notImplemented, "A header or parameter you provided implies functionality that is not implemented.")

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
