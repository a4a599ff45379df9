import Protobuf

/// The status codes of gRPC, with their numbers in `grpc-status`.
///
/// Source: gRPC "Status codes and their use in gRPC".
public enum StatusCode: Int, Sendable, Hashable, CaseIterable {
    case ok = 0
    case cancelled = 1
    case unknown = 2
    case invalidArgument = 3
    case deadlineExceeded = 4
    case notFound = 5
    case alreadyExists = 6
    case permissionDenied = 7
    case resourceExhausted = 8
    case failedPrecondition = 9
    case aborted = 10
    case outOfRange = 11
    case unimplemented = 12
    case internalError = 13
    case unavailable = 14
    case dataLoss = 15
    case unauthenticated = 16

    /// The name in the spelling of the specification, e.g. `FAILED_PRECONDITION`.
    public var name: String {
        switch self {
        case .ok: "OK"
        case .cancelled: "CANCELLED"
        case .unknown: "UNKNOWN"
        case .invalidArgument: "INVALID_ARGUMENT"
        case .deadlineExceeded: "DEADLINE_EXCEEDED"
        case .notFound: "NOT_FOUND"
        case .alreadyExists: "ALREADY_EXISTS"
        case .permissionDenied: "PERMISSION_DENIED"
        case .resourceExhausted: "RESOURCE_EXHAUSTED"
        case .failedPrecondition: "FAILED_PRECONDITION"
        case .aborted: "ABORTED"
        case .outOfRange: "OUT_OF_RANGE"
        case .unimplemented: "UNIMPLEMENTED"
        case .internalError: "INTERNAL"
        case .unavailable: "UNAVAILABLE"
        case .dataLoss: "DATA_LOSS"
        case .unauthenticated: "UNAUTHENTICATED"
        }
    }
}

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

/// The bytes of `grpc-status-details-bin`: one string that is both a `google.rpc.Status` and the detail itself.
///
/// Deployed clients decode the detail's own message and use its code. grpc-go, Connect's clients and grpcio-status decode
/// `google.rpc.Status` instead, and report a code that differs from `grpc-status` as INTERNAL or UNKNOWN. Both messages have the
/// same field 2, the message. Field 1 is a string in one and a varint in the other, so it is written twice, and each decoder skips
/// the one with the wrong wire type (Protocol Buffers, "Unknown Fields"). Field 3 belongs to the status only: it repeats the detail
/// as a `google.protobuf.Any`, where clients of `google.rpc.Status` expect it.
///
/// Source: google/rpc/status.proto. Too small for a generated type.
public enum RichStatus {
    private static let code: UInt32 = 1 << 3 | WireType.varint
    private static let details: UInt32 = 3 << 3 | WireType.delimited
    /// Field 1 of `google.protobuf.Any`.
    private static let typeURL: UInt32 = 1 << 3 | WireType.delimited
    /// Field 2 of `google.protobuf.Any`.
    private static let value: UInt32 = 2 << 3 | WireType.delimited

    /// - Parameter detail: an encoded message with a string as field 1, the status's message as field 2, and no field 3.
    public static func encode(_ status: StatusCode, detail: [UInt8], type: String) -> [UInt8] {
        var any: [UInt8] = []
        any.append(field: typeURL, .delimited(Array("type.googleapis.com/\(type)".utf8)))
        any.append(field: value, .delimited(detail))
        var output: [UInt8] = []
        output.append(field: code, .varint(UInt64(status.rawValue)))
        output += detail
        output.append(field: details, .delimited(any))
        return output
    }
}
