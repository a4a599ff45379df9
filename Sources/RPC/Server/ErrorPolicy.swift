import Wire

/// Which detail codes go with the errors that a server makes by itself. The default has none; an application that has codes
/// gives them to `RPCServer`.
package struct ErrorPolicy: Sendable {
    /// Why a server refuses or ends a call by itself.
    package enum Condition: Sendable, Hashable {
        /// The request breaks a rule of its protocol, or its message does not decode: INVALID_ARGUMENT.
        case invalidRequest
        /// A limit of the server is reached: UNAVAILABLE.
        case overloaded
        /// The handler threw an error that clients are not told: INTERNAL.
        case internalError
    }

    /// Errors without detail codes.
    package static let bare = ErrorPolicy { _, _ in nil }

    /// The name of the system that the detail codes belong to (AIP-193, `ErrorInfo.domain`).
    package let domain: String
    /// The code for a condition of a call of that method; `nil` = the error has a status and a message alone.
    package let detail: @Sendable (Condition, MethodDescriptor) -> DetailCode?

    package init(domain: String = "", detail: @escaping @Sendable (Condition, MethodDescriptor) -> DetailCode?) {
        self.domain = domain
        self.detail = detail
    }
}
