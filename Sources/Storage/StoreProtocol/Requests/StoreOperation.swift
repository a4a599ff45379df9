import Basics
import HTTPTypes

/// The operation of a request, determined by its method, its parameters and some fields.
package enum StoreOperation: Equatable {
    case putObject
    case appendObject(at: Int64)
    /// The checksum is the one that the copy is to have; `nil` = its source's.
    case copyObject(CopySourceHeader, checksum: ChecksumAlgorithm?)
    case initiateMultipart(MultipartChecksum?)
    case uploadPart(Int, multipartID: String)
    case copyPart(Int, multipartID: String, CopySourceHeader)
    case completeMultipart(String, all: Bool, expected: ExpectedObject)
    case listParts(String, after: Int, limit: Int)
    case abortMultipart(String)
    case headObject
    case getObject
    case deleteObject
    case objectProperty(ObjectProperty)
    case putTags
    case deleteTags
    /// A browser's form, sent to the bucket.
    case postObject
    case listBuckets(BucketListQuery)
    case headBucket
    case createBucket
    case deleteBucket
    case bucketProperty(BucketProperty)
    case listObjects(ObjectListQuery)
    case listMultiparts(MultipartListQuery)
    case deleteObjects

    /// A property of an object other than its bytes.
    package enum ObjectProperty: String, Equatable, Sendable {
        case accessControl = "acl"
        case attributes
        /// OSS's short HEAD.
        case metadata = "objectMeta"
        case tags = "tagging"
    }

    /// The details of an operation that a dialect reads from the request's fields.
    struct Details {
        var completesAll = false
        var checksum: MultipartChecksum?
        var expected = ExpectedObject()
        var source: CopySourceHeader?
    }

    /// - Parameters:
    ///   - subresources: the parameters by which the dialect distinguishes operations.
    /// - Throws: `notImplemented` for unknown operations.
    init(
        _ request: SignedRequest, subresources: Set<String>, _ details: Details = Details()
    ) throws(StoreError) {
        let target = request.target
        let requested = subresources.intersection(target.parameters.map(\.name))
        guard target.key != nil else {
            self = try Self.onBucket(request, requested)
            return
        }
        switch (request.method, requested) {
        case ("PUT", []):
            self = details.source.map { .copyObject($0, checksum: details.checksum?.algorithm) } ?? .putObject
        case ("GET", []): self = .getObject
        case ("HEAD", []): self = .headObject
        case ("GET", ["partNumber"]): self = .getObject
        case ("HEAD", ["partNumber"]): self = .headObject
        case ("DELETE", []): self = .deleteObject
        case ("POST", ["uploads"]): self = .initiateMultipart(details.checksum)
        case ("PUT", ["partNumber"]), ("PUT", ["uploadId"]):
            throw StoreError(.invalidArgument, "A part must be sent with both its partNumber and its uploadId.")
        case ("PUT", ["uploadId", "partNumber"]):
            let (number, id) = (try Self.number("partNumber", target), try Self.uploadID(target))
            if let source = details.source {
                self = .copyPart(number, multipartID: id, source)
            } else {
                self = .uploadPart(number, multipartID: id)
            }
        case ("POST", ["uploadId"]):
            self = .completeMultipart(
                try Self.uploadID(target), all: details.completesAll, expected: details.expected)
        case ("GET", ["uploadId"]):
            self = .listParts(
                try Self.uploadID(target), after: try Self.number("part-number-marker", target, default: 0),
                limit: min(try Self.number("max-parts", target, default: 1000), 1000))
        case ("DELETE", ["uploadId"]): self = .abortMultipart(try Self.uploadID(target))
        case ("POST", ["append", "position"]): self = .appendObject(at: Int64(try Self.number("position", target)))
        case ("PUT", ["tagging"]): self = .putTags
        case ("DELETE", ["tagging"]): self = .deleteTags
        case ("GET", ["objectMeta"]), ("HEAD", ["objectMeta"]): self = .objectProperty(.metadata)
        case ("GET", ["acl"]): self = .objectProperty(.accessControl)
        case ("GET", ["attributes"]): self = .objectProperty(.attributes)
        case ("GET", ["tagging"]): self = .objectProperty(.tags)
        default: throw Self.unknown(request, requested)
        }
    }

    private static func onBucket(
        _ request: SignedRequest, _ requested: Set<String>
    ) throws(StoreError) -> StoreOperation {
        let target = request.target
        guard target.bucket != nil else {
            // The continuation token of a list is a sub-resource in OSS.
            guard request.method == "GET", requested.isSubset(of: ["continuation-token"]) else {
                throw unknown(request, requested)
            }
            return .listBuckets(try BucketListQuery(target))
        }
        switch (request.method, requested) {
        case ("HEAD", []): return .headBucket
        case ("PUT", []): return .createBucket
        case ("DELETE", []): return .deleteBucket
        case ("POST", ["delete"]): return .deleteObjects
        case ("POST", []): return .postObject
        case ("GET", ["uploads"]):
            let limit = try number("max-uploads", target, default: MultipartListQuery.maximumLimit)
            return .listMultiparts(
                try MultipartListQuery(target, limit: min(limit, MultipartListQuery.maximumLimit)))
        case ("GET", _) where requested == ["versions"] || requested.isSubset(of: ["list-type", "continuation-token"]):
            let limit = try number("max-keys", target, default: ObjectListQuery.maximumLimit)
            return .listObjects(try ObjectListQuery(target, limit: min(limit, ObjectListQuery.maximumLimit)))
        case ("GET", _) where requested.count == 1:
            guard let property = requested.first.flatMap(BucketProperty.init) else { throw unknown(request, requested) }
            return .bucketProperty(property)
        default: throw unknown(request, requested)
        }
    }

    /// The operation's name in the protocols' documentation.
    package var name: String {
        switch self {
        case .putObject: "PutObject"
        case .appendObject: "AppendObject"
        case .copyObject: "CopyObject"
        case .initiateMultipart: "InitiateMultipartUpload"
        case .uploadPart: "UploadPart"
        case .copyPart: "UploadPartCopy"
        case .completeMultipart: "CompleteMultipartUpload"
        case .listParts: "ListParts"
        case .abortMultipart: "AbortMultipartUpload"
        case .headObject: "HeadObject"
        case .getObject: "GetObject"
        case .deleteObject: "DeleteObject"
        case .objectProperty(.accessControl): "GetObjectAcl"
        case .objectProperty(.attributes): "GetObjectAttributes"
        case .objectProperty(.metadata): "GetObjectMeta"
        case .objectProperty(.tags): "GetObjectTagging"
        case .putTags: "PutObjectTagging"
        case .deleteTags: "DeleteObjectTagging"
        case .postObject: "PostObject"
        case .listBuckets: "ListBuckets"
        case .headBucket: "HeadBucket"
        case .createBucket: "CreateBucket"
        case .deleteBucket: "DeleteBucket"
        case .bucketProperty(let property): property.operation
        case .listObjects(let query): query.form == .versions ? "ListObjectVersions" : "ListObjects"
        case .listMultiparts: "ListMultipartUploads"
        case .deleteObjects: "DeleteObjects"
        }
    }

    /// Whether temporary credentials, which are for one object, permit the operation.
    package var isOfTemporaryCredentials: Bool {
        switch self {
        case .putObject, .initiateMultipart, .uploadPart, .completeMultipart, .listParts, .abortMultipart, .headObject,
            .getObject:
            true
        case .appendObject, .copyObject, .copyPart, .deleteObject, .objectProperty, .putTags, .deleteTags, .postObject,
            .listBuckets, .headBucket, .createBucket, .deleteBucket, .bucketProperty, .listObjects, .listMultiparts,
            .deleteObjects:
            false
        }
    }

    private static func unknown(_ request: SignedRequest, _ requested: Set<String>) -> StoreError {
        let resource: UnsupportedOperation.Resource =
            request.target.key == nil ? request.target.bucket == nil ? .service : .bucket : .object
        let query = requested.isEmpty ? "" : " with ?\(requested.sorted().joined(separator: "&"))"
        let description = "\(request.method) of the \(resource.rawValue)\(query)"
        let operation = UnsupportedOperation.of(request.method, resource, subresources: requested)
        return .notImplemented(operation.map { "\($0.name) (\(description))" } ?? description, hint(request, requested))
    }

    private static func hint(_ request: SignedRequest, _ requested: Set<String>) -> String {
        switch requested {
        case ["acl"]: "Leave the ACL out: object_store.static_keys decides about access."
        case _ where request.target.key == nil && ["PUT", "DELETE"].contains(request.method):
            "Buckets are configured with object_store.buckets."
        default: ""
        }
    }

    private static func uploadID(_ target: RequestTarget) throws(StoreError) -> String {
        guard let id = target["uploadId"], !id.isEmpty else {
            throw StoreError(.invalidArgument, "The uploadId must be given once.")
        }
        return id
    }

    /// Parses a number; an empty value counts as absent.
    private static func number(
        _ name: String, _ target: RequestTarget, default standard: Int? = nil
    ) throws(StoreError) -> Int {
        if let standard, !target.parameters.contains(where: { $0.name == name && !$0.value.isEmpty }) {
            return standard
        }
        guard let text = target[name], let number = Int(decimal: text), number <= 1 << 48 else {
            throw StoreError(.invalidArgument, "The \(name) must be a number of decimal digits.")
        }
        return number
    }
}
