/// The status codes in Connect's spelling, and their HTTP statuses (Connect protocol, "Error Codes").
extension StatusCode {
    /// Connect's name of the status, e.g. `failed_precondition`; in American spelling, unlike gRPC's `CANCELLED`.
    public var connectName: String {
        self == .cancelled ? "canceled" : name.lowercased()
    }

    /// The HTTP status of a unary response with this status code.
    public var httpStatus: Int {
        switch self {
        case .ok: 200
        case .cancelled: 499
        case .invalidArgument, .failedPrecondition, .outOfRange: 400
        case .unauthenticated: 401
        case .permissionDenied: 403
        case .notFound: 404
        case .alreadyExists, .aborted: 409
        case .resourceExhausted: 429
        case .unknown, .internalError, .dataLoss: 500
        case .unimplemented: 501
        case .unavailable: 503
        case .deadlineExceeded: 504
        }
    }
}
