import Wire

/// Why a call is refused: the one error that reaches a client as it is.
///
/// `message` is for people: it names what was wrong with what they sent, and holds no secret, no SQL and no path.
package struct RPCError: Error, Sendable, Hashable, CustomStringConvertible {
    package var status: StatusCode
    /// Sent in `grpc-status-details-bin` where the contract has a code for the case.
    package var detail: DetailCode?
    package var message: String
    /// Sent as `retry-after-ms`, where trying again later can help.
    package var retryAfterMilliseconds: Int?
    /// Whether the call was malformed, although its status blames the server, as gRPC has it for some such calls.
    package private(set) var isCallersFault = false
    /// Why the server made the error by itself, for which its policy may have a detail code; `nil` for a handler's error.
    private(set) var condition: ErrorPolicy.Condition?
    /// What failed within the server, for its log. It is never sent.
    package var cause: (any Error)? { underlying.error }
    private var underlying = FailureCause()

    /// A refusal that the contract has a code for; the status follows from it.
    package init(_ detail: DetailCode, _ message: String, retryAfterMilliseconds: Int? = nil) {
        self.status = detail.status
        self.detail = detail
        self.message = message
        self.retryAfterMilliseconds = retryAfterMilliseconds
    }

    /// A refusal without a code.
    package init(bare status: StatusCode, _ message: String, retryAfterMilliseconds: Int? = nil) {
        self.status = status
        self.detail = nil
        self.message = message
        self.retryAfterMilliseconds = retryAfterMilliseconds
    }

    /// The same refusal with what failed within the server, for its log; a cause that it has already stays.
    package func caused(by error: any Error) -> RPCError {
        var refusal = self
        if cause == nil { refusal.underlying.error = error }
        return refusal
    }

    /// The refusal that an error is, or stands for with the error as its cause; `nil` where clients are not told of it.
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

    /// INTERNAL for a call that breaks gRPC's rules.
    static func malformedCall(_ message: String) -> RPCError {
        var error = RPCError(bare: .internalError, message)
        error.isCallersFault = true
        return error
    }

    /// INVALID_ARGUMENT for a request that breaks a rule of its protocol, or whose message does not decode.
    static func invalidRequest(_ message: String) -> RPCError {
        var error = RPCError(bare: .invalidArgument, message)
        error.condition = .invalidRequest
        return error
    }

    /// UNAVAILABLE where a limit of the server is reached.
    static func overloaded(_ message: String) -> RPCError {
        var error = RPCError(bare: .unavailable, message, retryAfterMilliseconds: 1000)
        error.condition = .overloaded
        return error
    }

    package var description: String {
        "\(detail?.rawValue ?? status.name): \(message)"
    }

    /// What operators are told: the cause where there is one.
    package var explanation: String { cause.map { "\($0)" } ?? message }
}

/// Errors with equal refusals are equal, whatever caused them.
private struct FailureCause: Sendable, Hashable {
    var error: (any Error)?

    static func == (left: FailureCause, right: FailureCause) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

/// What a module's own errors become when a handler lets one through.
package protocol RPCErrorConvertible: Error {
    var rpcError: RPCError { get }
}
