package import Database
import GRPCWire
package import RPC

extension DatabaseError: RPCErrorConvertible {
    /// The error for the caller: transient failures are UNAVAILABLE, all others are internal.
    package var rpcError: RPCError {
        switch self {
        case .overloaded:
            RPCError(.overloaded, "too many writes are waiting: try again later", retryAfterMilliseconds: 1000)
        case .full:
            RPCError(.overloaded, "the gateway's disk is full: try again later", retryAfterMilliseconds: 30_000)
        case .locked:
            RPCError(.overloaded, "the database is in use by another program", retryAfterMilliseconds: 5000)
        case .unavailable:
            RPCError(.overloaded, "the database is not available: try again later", retryAfterMilliseconds: 1000)
        case .outcomeUnknown:
            RPCError(
                bare: .unavailable, "it is unknown whether the change was made: look, or repeat the request",
                retryAfterMilliseconds: 1000)
        case .closed, .writerEnded:
            RPCError(bare: .unavailable, "the gateway is stopping", retryAfterMilliseconds: 1000)
        case .constraint, .rolledBack, .newerSchema, .unsuitable, .misuse, .damaged, .failed, .server:
            RPCError(.internalError, "the gateway failed")
        }
    }
}
