package import HTTPTypes

/// The treatment of one header field or query parameter that OSS or S3 documents.
package struct RequestRule: Sendable {
    package enum Treatment: Sendable, Equatable {
        /// Implemented for these operations, without a meaning for others. Empty = all operations for which the protocol defines
        /// it.
        case honored(on: Set<OperationName> = [])
        /// Implemented for these operations, and refused for all others that write: a condition must never be ignored.
        case honoredOnly(on: Set<OperationName>)
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
    package func check(_ request: SignedRequest, _ operation: OperationName) throws(StoreError) {
        let (fields, parameters) = (request.fields.fields, request.target.parameters)
        for index in fields.indices where mayRefuse(fields[index].name) {
            try check(fields[index].name, fields[index].value, request.method, operation)
        }
        for index in parameters.indices {
            // Presigned URLs of S3 use `X-Amz-`.
            let name = parameters[index].name.lowercased()
            guard mayRefuse(name) else { continue }
            try check(name, parameters[index].value, request.method, operation)
            if isConditionOfWrite(name, request.method) {
                throw .notImplemented("\(name) in the query of \(operation.rawValue)", "Send it as a header field.")
            }
        }
    }

    /// Refuses the names of the protocols' namespaces that no rule has, in a request that writes: whatever they stand for would be
    /// passed over with a successful response.
    ///
    /// For the requests of static keys, which are those of operators' tools. Devices in the field keep sending what they always sent:
    /// their requests are only checked by ``check(_:_:)``.
    package func requireKnown(_ request: SignedRequest, _ operation: OperationName) throws(StoreError) {
        guard Self.writes(request.method) else { return }
        let parameters = request.target.parameters.map { $0.name.lowercased() }
        let unknown =
            request.fields.fields.map(\.name).first { isInNamespace($0) && rule(for: $0) == nil }
            ?? parameters.first { isInNamespace($0) && !isParameter($0) }
        if let unknown { throw .notImplemented("\(unknown.prefix(100)) of \(operation.rawValue)", "Leave it out.") }
    }

    /// Refuses options in the header of a form's request, of which only the form has options of the object.
    package func requireNoOptions(inHeaderOfForm fields: HTTPFields) throws(StoreError) {
        let option = fields.fields.map(\.name).first {
            $0 == "content-md5" || isInNamespace($0) && rule(for: $0)?.treatment != .irrelevant
        }
        if let option { throw .notImplemented("\(option) in the header of a form", "Put it into the form.") }
    }

    /// Whether it is a condition of HTTP, which only header fields have; those of the protocols' namespaces may be parameters.
    private func isConditionOfWrite(_ name: String, _ method: String) -> Bool {
        guard Self.writes(method), !isInNamespace(name), case .honoredOnly = rule(for: name)?.treatment else {
            return false
        }
        return true
    }

    private func isInNamespace(_ name: String) -> Bool { Self.namespaces.contains(where: name.hasPrefix) }

    private func isParameter(_ name: String) -> Bool { parameters?.contains(name) ?? (rule(for: name) != nil) }

    private static let namespaces = ["x-amz-", "x-oss-"]

    private static func writes(_ method: String) -> Bool { ["PUT", "POST", "DELETE"].contains(method) }

    private func check(
        _ name: String, _ value: String, _ method: String, _ operation: OperationName
    ) throws(StoreError) {
        guard let rule = rule(for: name) else { return }
        switch rule.treatment {
        case .honored, .irrelevant: return
        case .honoredOnly(let operations):
            guard Self.writes(method), !operations.contains(operation) else { return }
            throw .notImplemented("\(name) of \(operation.rawValue)", rule.hint)
        case .only(let values, let code):
            guard !values.contains(value.lowercased()) else { return }
            let possible = values.filter { !$0.isEmpty }.joined(separator: " or ")
            let text =
                "\(operation.rawValue): \(name) can only be \(possible) in this store." + Self.sentence(rule.hint)
            throw StoreError(code, text)
        case .refused(.notImplemented): throw .notImplemented("\(name) of \(operation.rawValue)", rule.hint)
        case .refused(let code):
            throw StoreError(
                code, "\(operation.rawValue): this store does not support \(name)." + Self.sentence(rule.hint))
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
    /// - Parameter hint: a sentence with an alternative.
    package static func notImplemented(_ operation: OperationName, _ hint: String = "") -> StoreError {
        notImplemented(operation.rawValue, hint)
    }

    /// - Parameters:
    ///   - what: the operation, or the header field or parameter and its operation.
    ///   - hint: a sentence with an alternative.
    package static func notImplemented(_ what: String, _ hint: String = "") -> StoreError {
        StoreError(.notImplemented, "This store does not implement \(what)." + (hint.isEmpty ? "" : " \(hint)"))
    }
}
