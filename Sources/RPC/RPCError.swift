package import GRPCWire
package import Protobuf

/// The error that refuses a call: the only error type that clients receive unchanged.
///
/// `message` is for people: it says what is wrong in their request, and contains no secret, no SQL and no path.
package struct RPCError: Error, Sendable, Hashable, CustomStringConvertible {
    package var status: StatusCode
    /// Sent in `grpc-status-details-bin` if the API has a code for the case.
    package var detail: DetailCode?
    package var message: String
    /// Sent as `retry-after-ms` if a later attempt can succeed.
    package var retryAfterMilliseconds: Int?
    /// Values for programs that belong to `detail`; sent only with one.
    package var metadata: [String: String] = [:]
    /// The field of the request that violates a rule, in the name that clients use. REST services whose errors have the shape
    /// `NESTED` send it.
    package var field: String?
    /// Whether the request exceeds a limit of its size.
    private(set) var isTooLarge = false
    /// Whether the client's request was malformed although the status blames the server, as gRPC specifies for some cases.
    package private(set) var isCallersFault = false
    /// The condition in which the server itself made the error, for which its policy may have a detail code; `nil` for a handler's
    /// error.
    private(set) var condition: ErrorPolicy.Condition?
    /// The internal cause, for the log. It is never sent.
    package var cause: (any Error)? { underlying.error }
    private var underlying = FailureCause()

    /// Makes an error for which the API has a code; the status follows from it.
    package init(_ detail: DetailCode, _ message: String, retryAfterMilliseconds: Int? = nil) {
        self.status = detail.status
        self.detail = detail
        self.message = message
        self.retryAfterMilliseconds = retryAfterMilliseconds
    }

    /// Makes an error without a code.
    package init(bare status: StatusCode, _ message: String, retryAfterMilliseconds: Int? = nil) {
        self.status = status
        self.detail = nil
        self.message = message
        self.retryAfterMilliseconds = retryAfterMilliseconds
    }

    /// Returns the error with an internal cause, for the log; an existing cause is kept.
    package func caused(by error: any Error) -> RPCError {
        var refusal = self
        if cause == nil { refusal.underlying.error = error }
        return refusal
    }

    /// Returns the error itself, or the one to which it converts with the original as its cause; `nil` if clients do not learn of
    /// it.
    package init?(of error: any Error) {
        switch error {
        case let error as RPCError: self = error
        case let error as any RPCErrorConvertible: self = error.rpcError.caused(by: error)
        default: return nil
        }
    }

    package static func notFound(_ message: String) -> RPCError { RPCError(bare: .notFound, message) }

    package static func alreadyExists(_ message: String) -> RPCError { RPCError(bare: .alreadyExists, message) }

    package static func permissionDenied(_ message: String) -> RPCError { RPCError(bare: .permissionDenied, message) }

    package static func unimplemented(_ message: String) -> RPCError { RPCError(bare: .unimplemented, message) }

    /// Returns INTERNAL for a call that violates gRPC's rules.
    static func malformedCall(_ message: String) -> RPCError {
        var error = RPCError(bare: .internalError, message)
        error.isCallersFault = true
        return error
    }

    /// Returns INVALID_ARGUMENT for a request that violates a rule of its protocol, or whose message cannot be decoded.
    ///
    /// - Parameter field: the field in the name that clients use; `nil` if it is not about a field.
    static func invalidRequest(_ message: String, field: String? = nil) -> RPCError {
        var error = RPCError(bare: .invalidArgument, message)
        error.field = field
        error.condition = .invalidRequest
        return error
    }

    /// Returns RESOURCE_EXHAUSTED for a request whose size exceeds a limit.
    static func tooLarge(_ message: String) -> RPCError {
        var error = RPCError(bare: .resourceExhausted, message)
        error.isTooLarge = true
        return error
    }

    /// Returns UNAVAILABLE for a limit of the server that is reached.
    static func overloaded(_ message: String) -> RPCError {
        var error = RPCError(bare: .unavailable, message, retryAfterMilliseconds: 1000)
        error.condition = .overloaded
        return error
    }

    package var description: String {
        "\(detail?.rawValue ?? status.name): \(message)"
    }

    /// The text for operators: the cause if there is one.
    package var explanation: String { cause.map { "\($0)" } ?? message }
}

/// The cause of an error. All causes are equal, so that errors are compared without them.
private struct FailureCause: Sendable, Hashable {
    var error: (any Error)?

    static func == (left: FailureCause, right: FailureCause) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

/// An error of a module that is converted if a handler throws it.
package protocol RPCErrorConvertible: Error {
    var rpcError: RPCError { get }
}

extension RPCError {
    /// Makes the error that a client receives for an error thrown in a call of that method. This is the only mapping of errors to
    /// statuses.
    init(_ error: any Error, of method: MethodDescriptor, policy: ErrorPolicy) {
        if let error = error as? RPCError {
            self = error
            if let condition, detail == nil { detail = policy.detail(condition, method) }
        } else if let refusal = RPCError(of: error) {
            self = refusal
            if status == .internalError, detail != nil { detail = policy.detail(.internalError, method) ?? detail }
        } else if error is CancellationError {
            self.init(bare: .cancelled, "the call was canceled")
        } else {
            self = RPCError(bare: .internalError, "the gateway failed").caused(by: error)
            detail = policy.detail(.internalError, method)
        }
    }
}

extension MessageDeframer.Failure {
    /// gRPC specifies RESOURCE_EXHAUSTED for a message above the limit: clients must not retry it.
    var rpcError: RPCError {
        switch self {
        case .tooLong(let claimed, let limit):
            .tooLarge("a message of \(claimed) bytes exceeds the limit of \(limit) bytes")
        case .badFlag(let flag):
            .malformedCall("a message's compression flag must be 0 or 1, not \(flag)")
        }
    }
}

extension MessageEncoding.Failure {
    var rpcError: RPCError {
        switch self {
        case .malformed:
            .invalidRequest("a compressed message does not have the format that its header field names")
        case .tooLong(let limit):
            .tooLarge("a compressed message holds more than the limit of \(limit) bytes")
        }
    }
}

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

/// An error code for clients, sent in `ErrorDetail.code`. An application declares its codes in an extension.
package struct DetailCode: Sendable, Hashable {
    /// The text that is sent, e.g. `DATA_GATEWAY_OVERLOADED`.
    package let rawValue: String
    /// The status that is always sent with the code.
    package let status: StatusCode

    package init(_ rawValue: String, _ status: StatusCode) {
        self.rawValue = rawValue
        self.status = status
    }
}
