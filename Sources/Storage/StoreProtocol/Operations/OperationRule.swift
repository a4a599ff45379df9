import Basics

/// The resource that a request names.
package enum StoreScope: String, Sendable {
    case service
    case bucket
    case object
}

/// One operation of the store: the requests for it, and what they need. `OperationRule+Table.swift` has all of them, and
/// docs/object-store.md lists them for users.
package struct OperationRule: Sendable {
    /// The right to the resource that a signer needs.
    package enum Need: String, Sendable {
        case nothing
        case list
        case read
        case write
        /// The right to write an object, which only static keys have for their own objects.
        case delete
    }

    /// The body of a request.
    package enum Body: Sendable {
        case none
        /// An XML document.
        case document
        /// The bytes of an object or a part.
        case bytes
        /// A form of a browser, with the bytes of an object.
        case form
    }

    /// The requests for an operation.
    package struct Form: Sendable {
        /// The condition on the field with the source of a copy.
        enum CopySource: Sendable {
            case required
            case absent
            /// The field has no meaning: ``RequestRules`` refuses it where it would be passed over.
            case irrelevant
        }

        package let method: String
        package let scope: StoreScope
        /// The parameters that a request must have, of those that distinguish operations.
        package let parameters: Set<String>
        /// The parameters that a request may have, of those that distinguish operations.
        package let optionalParameters: Set<String>
        let source: CopySource

        init(
            _ method: String, _ scope: StoreScope = .object, _ parameters: Set<String> = [],
            or optionalParameters: Set<String> = [], source: CopySource = .irrelevant
        ) {
            self.method = method
            self.scope = scope
            self.parameters = parameters
            self.optionalParameters = optionalParameters
            self.source = source
        }

        /// Makes the form of requests for an object.
        init(_ method: String, _ parameters: Set<String>, source: CopySource = .irrelevant) {
            self.init(method, .object, parameters, source: source)
        }

        /// Whether a request of the method and scope, with these parameters, has this form.
        fileprivate func matches(_ requested: Set<String>, hasSource: Bool) -> Bool {
            switch source {
            case .required where !hasSource, .absent where hasSource: false
            default:
                parameters.isSubset(of: requested)
                    && requested.allSatisfy { parameters.contains($0) || optionalParameters.contains($0) }
            }
        }
    }

    package let name: OperationName
    package let form: Form
    package let needs: Need
    /// Whether temporary credentials and presigned URLs of them, which are for one object, permit the operation; static keys permit
    /// all.
    package let isOfTemporaryCredentials: Bool
    package let body: Body
    /// Whether a second equal request has no further effect, so that clients may repeat it.
    package let isIdempotent: Bool
    /// Whether it makes an object that keeps fields of its request.
    package let keepsFields: Bool
    /// Reads the arguments of a request.
    let command: @Sendable (OperationRequest) throws(StoreError) -> StoreCommand

    private struct Key: Hashable {
        let method: String
        let scope: StoreScope
    }

    private static let byRequest = Dictionary(grouping: table) { Key(method: $0.form.method, scope: $0.form.scope) }

    /// Returns the operation of a request; `nil` if the store has none.
    ///
    /// - Parameter requested: the parameters of the request that distinguish operations.
    static func find(_ method: String, _ scope: StoreScope, _ requested: Set<String>, hasSource: Bool) -> OperationRule?
    {
        byRequest[Key(method: method, scope: scope)]?.first { $0.form.matches(requested, hasSource: hasSource) }
    }

    /// The parameters by which either protocol distinguishes operations.
    static let parameters = Set(table.flatMap(\.form.parameters) + UnsupportedOperation.all.map(\.subresource))

    /// Returns the names of the operations whose rule satisfies the predicate.
    static func names(where isIncluded: (OperationRule) -> Bool) -> Set<OperationName> {
        Set(table.filter(isIncluded).map(\.name))
    }
}
