import Protobuf

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
