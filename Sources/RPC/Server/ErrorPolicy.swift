package import Protobuf

/// The detail codes of errors that the server itself makes. The default has none; an application with codes passes them to
/// `RPCServer`.
package struct ErrorPolicy: Sendable {
    /// The conditions in which a server itself refuses or ends a call.
    package enum Condition: Sendable, Hashable {
        /// The request violates a rule of its protocol, or its message cannot be decoded: INVALID_ARGUMENT.
        case invalidRequest
        /// A limit of the server is reached: UNAVAILABLE.
        case overloaded
        /// The handler threw an error whose details clients must not see: INTERNAL.
        case internalError
    }

    /// Errors without detail codes.
    package static let bare = ErrorPolicy { _, _ in nil }

    /// The name of the system that defines the detail codes (AIP-193, `ErrorInfo.domain`).
    package let domain: String
    /// Returns the code for a condition of a call of that method; `nil` = the error has only a status and a message.
    package let detail: @Sendable (Condition, MethodDescriptor) -> DetailCode?

    package init(domain: String = "", detail: @escaping @Sendable (Condition, MethodDescriptor) -> DetailCode?) {
        self.domain = domain
        self.detail = detail
    }
}
