import Database
import GRPCWire
import RPC

/// The codes of errors that differ from those of the HTTP status.
extension DetailCode {
    static let umidUnauthorized = DetailCode("UNAUTHORIZED", .unauthenticated)
    static let shareCodeDatabaseError = DetailCode("DATABASE_ERROR", .internalError)
}

extension RPCError {
    /// Makes the error for a field that violates a rule.
    ///
    /// - Parameters:
    ///   - field: the name in the JSON.
    ///   - rule: continues a sentence that begins with the name.
    static func invalid(_ field: String, _ rule: String) -> RPCError {
        var error = RPCError(bare: .invalidArgument, "\(field) \(rule)")
        error.field = field
        return error
    }

    static func rateLimited(_ message: String, retryAfterMilliseconds: Int) -> RPCError {
        RPCError(bare: .resourceExhausted, message, retryAfterMilliseconds: retryAfterMilliseconds)
    }

    /// Makes the error for a failure of the database. Load and the end of the gateway are UNAVAILABLE.
    static func shareCodes(_ failure: DatabaseError) -> RPCError {
        let error =
            switch failure {
            case .overloaded, .closed, .locked, .unavailable:
                RPCError(bare: .unavailable, "the gateway is busy: try again later", retryAfterMilliseconds: 1000)
            case .full:
                RPCError(.shareCodeDatabaseError, "the gateway's disk is full", retryAfterMilliseconds: 30_000)
            case .outcomeUnknown, .writerEnded, .constraint, .rolledBack, .newerSchema, .unsuitable, .misuse, .damaged,
                .failed,
                .server:
                RPCError(.shareCodeDatabaseError, "the database operation failed")
            }
        return error.caused(by: failure)
    }
}
