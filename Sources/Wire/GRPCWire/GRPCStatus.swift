/// The outcome of a call, as transmitted in `grpc-status`, `grpc-message` and `grpc-status-details-bin`.
///
/// A client's call throws it if the code is not OK.
public struct GRPCStatus: Error, Sendable, Hashable, CustomStringConvertible {
    public var code: StatusCode
    /// A description for people; may be empty.
    public var message: String
    /// The decoded bytes of `grpc-status-details-bin`; `nil` if it was not sent.
    public var details: [UInt8]?
    /// The value of `retry-after-ms`: the time after which the same call may succeed. `nil` if it was not sent.
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
