/// How a call ended: what travels in `grpc-status`, `grpc-message` and `grpc-status-details-bin`.
///
/// A client's call throws it where the code is not OK.
public struct GRPCStatus: Error, Sendable, Hashable, CustomStringConvertible {
    public var code: StatusCode
    /// For people; empty where there is nothing to say.
    public var message: String
    /// The decoded bytes of `grpc-status-details-bin`; `nil` where it was not sent.
    public var details: [UInt8]?
    /// What `retry-after-ms` said: when the same call may succeed. `nil` where it was not sent.
    public var retryAfterMilliseconds: Int?

    public init(
        _ code: StatusCode, _ message: String = "", details: [UInt8]? = nil, retryAfterMilliseconds: Int? = nil
    ) {
        self.code = code
        self.message = message
        self.details = details
        self.retryAfterMilliseconds = retryAfterMilliseconds
    }

    public static let ok = GRPCStatus(.ok)

    public var description: String {
        message.isEmpty ? code.name : "\(code.name): \(message)"
    }
}
