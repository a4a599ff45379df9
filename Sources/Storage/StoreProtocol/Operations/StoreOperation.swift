import Basics
import HTTPTypes

/// The operation of a request, determined by its method, its parameters and some fields.
package struct StoreOperation: Sendable {
    package let rule: OperationRule
    package let command: StoreCommand

    package var name: OperationName { rule.name }

    /// The operation of a browser's form, which has its arguments in its body.
    package static let form = StoreOperation(rule: OperationRule.form, command: .postObject)

    private init(rule: OperationRule, command: StoreCommand) {
        self.rule = rule
        self.command = command
    }

    /// - Parameter subresources: the parameters by which the request's dialect distinguishes operations.
    /// - Throws: `notImplemented` for an operation that the store does not have in the dialect, and the errors of its arguments.
    init(_ request: OperationRequest, subresources: Set<String>) throws(StoreError) {
        var requested: Set<String> = []
        var isForeign = false
        for parameter in request.target.parameters {
            if subresources.contains(parameter.name) {
                requested.insert(parameter.name)
            } else if OperationRule.parameters.contains(parameter.name) {
                // Without it the request would be for another operation, and perhaps one that writes.
                requested.insert(parameter.name)
                isForeign = true
            }
        }
        let rule = request.rule(requested)
        guard let rule, !isForeign else { throw request.refusal(requested, rule?.name) }
        self.rule = rule
        command = try rule.command(request)
    }
}

/// The work of a request, with the arguments that were read from it.
package enum StoreCommand: Equatable, Sendable {
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
    case postObject
    case listBuckets(BucketListQuery)
    case headBucket
    case createBucket
    case deleteBucket
    case bucketProperty(BucketProperty)
    case listObjects(ObjectListQuery)
    case listMultiparts(MultipartListQuery)
    case deleteObjects
}

/// A property of an object other than its bytes, named by its query parameter.
package enum ObjectProperty: String, Equatable, Sendable {
    case accessControl = "acl"
    case attributes
    /// OSS's short HEAD.
    case metadata = "objectMeta"
    case tags = "tagging"
}

/// A request whose operation is to be determined, with what its dialect reads from its fields.
struct OperationRequest {
    let method: String
    let target: RequestTarget
    var source: CopySourceHeader?
    /// Whether CompleteMultipartUpload has no list of parts, for all of them.
    var completesAll = false
    var checksum: MultipartChecksum?
    var expected = ExpectedObject()

    init(_ request: SignedRequest) {
        method = request.method
        target = request.target
    }

    /// Returns the operation with these parameters; `nil` if the store has none.
    fileprivate func rule(_ requested: Set<String>) -> OperationRule? {
        OperationRule.find(method, target.scope, requested, hasSource: source != nil)
    }

    // MARK: Arguments

    var requiredSource: CopySourceHeader {
        get throws(StoreError) {
            guard let source else { throw StoreError(.invalidArgument, "The request names no source of the copy.") }
            return source
        }
    }

    var multipartID: String {
        get throws(StoreError) {
            guard let id = target["uploadId"], !id.isEmpty else {
                throw StoreError(.invalidArgument, "The uploadId must be given once.")
            }
            return id
        }
    }

    /// Parses a number; an empty value counts as absent.
    func number(_ name: String, default standard: Int? = nil) throws(StoreError) -> Int {
        if let standard, !target.parameters.contains(where: { $0.name == name && !$0.value.isEmpty }) {
            return standard
        }
        guard let text = target[name], let number = Int(decimal: text), number <= 1 << 48 else {
            throw StoreError(.invalidArgument, "The \(name) must be a number of decimal digits.")
        }
        return number
    }

    /// Parses the number of a page's entries, which is at most `maximum`, and `maximum` by default.
    func limit(_ name: String, at maximum: Int) throws(StoreError) -> Int {
        min(try number(name, default: maximum), maximum)
    }

    // MARK: Refusals

    /// Returns the error for a request with these parameters, for which the dialect has no operation.
    ///
    /// - Parameter name: the operation if the store has it in the other dialect.
    fileprivate func refusal(_ requested: Set<String>, _ name: OperationName?) -> StoreError {
        if method == "PUT", target.scope == .object, requested == ["partNumber"] || requested == ["uploadId"] {
            return StoreError(.invalidArgument, "A part must be sent with both its partNumber and its uploadId.")
        }
        let query = requested.isEmpty ? "" : " with ?\(requested.sorted().joined(separator: "&"))"
        let description = "\(method) of the \(target.scope.rawValue)\(query)"
        if let name { return .notImplemented("\(name.rawValue) (\(description)) in this protocol") }
        let operation = UnsupportedOperation.of(method, target.scope, subresources: requested)
        return .notImplemented(operation.map { "\($0.name) (\(description))" } ?? description, hint(requested))
    }

    private func hint(_ requested: Set<String>) -> String {
        switch requested {
        case ["acl"]: "Leave the ACL out: object_store.static_keys decides about access."
        case _ where target.scope != .object && ["PUT", "DELETE"].contains(method):
            "Buckets are configured with object_store.buckets."
        default: ""
        }
    }
}

extension RequestTarget {
    /// The resource that the target names.
    package var scope: StoreScope { key != nil ? .object : bucket != nil ? .bucket : .service }
}
