/// `google.rpc.Status`: a status with a message that says more.
///
/// Source: google/rpc/status.proto. It has three fields, and no other use here: not worth a generated type.
public enum RichStatus {
    private static let code: UInt32 = 1 << 3 | WireType.varint
    private static let message: UInt32 = 2 << 3 | WireType.delimited
    private static let details: UInt32 = 3 << 3 | WireType.delimited
    /// Of the `google.protobuf.Any` that a detail stands in.
    private static let typeURL: UInt32 = 1 << 3 | WireType.delimited
    private static let value: UInt32 = 2 << 3 | WireType.delimited

    /// - Parameter detail: a message, by its full name.
    public static func encode(
        _ status: StatusCode, _ message: String, detail: (type: String, value: [UInt8])
    ) -> [UInt8] {
        var any: [UInt8] = []
        any.append(field: typeURL, .delimited(Array("type.googleapis.com/\(detail.type)".utf8)))
        any.append(field: value, .delimited(detail.value))
        var output: [UInt8] = []
        output.append(field: code, .varint(UInt64(status.rawValue)))
        output.append(field: Self.message, .delimited(Array(message.utf8)))
        output.append(field: details, .delimited(any))
        return output
    }
}
