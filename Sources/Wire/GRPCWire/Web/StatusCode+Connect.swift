/// The statuses in Connect's spelling, and what they are to HTTP (Connect protocol, "Error Codes").
extension StatusCode {
    /// E.g. `failed_precondition`; American spelling, unlike gRPC's `CANCELLED`.
    public var connectName: String {
        self == .cancelled ? "canceled" : name.lowercased()
    }

    /// The HTTP status of a unary response that ends so.
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
