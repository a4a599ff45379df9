import Protobuf

/// The message types with a JSON form of their own.
///
/// Source: protobuf "ProtoJSON Format", table of types.
enum WellKnownType: String {
    case any = "google.protobuf.Any"
    case timestamp = "google.protobuf.Timestamp"
    case duration = "google.protobuf.Duration"
    case fieldMask = "google.protobuf.FieldMask"
    case structure = "google.protobuf.Struct"
    case value = "google.protobuf.Value"
    case list = "google.protobuf.ListValue"
    case doubleValue = "google.protobuf.DoubleValue"
    case floatValue = "google.protobuf.FloatValue"
    case int64Value = "google.protobuf.Int64Value"
    case uint64Value = "google.protobuf.UInt64Value"
    case int32Value = "google.protobuf.Int32Value"
    case uint32Value = "google.protobuf.UInt32Value"
    case boolValue = "google.protobuf.BoolValue"
    case stringValue = "google.protobuf.StringValue"
    case bytesValue = "google.protobuf.BytesValue"

    static let nullValue = "google.protobuf.NullValue"

    /// The type of field 1 of a wrapper; `nil` for other messages.
    var wrapped: FieldSchema.Kind? {
        switch self {
        case .doubleValue: .double
        case .floatValue: .float
        case .int64Value: .int64
        case .uint64Value: .uint64
        case .int32Value: .int32
        case .uint32Value: .uint32
        case .boolValue: .bool
        case .stringValue: .string
        case .bytesValue: .bytes
        case .any, .timestamp, .duration, .fieldMask, .structure, .value, .list: nil
        }
    }

    /// Returns the full name in an `Any`'s type URL: the part after the last slash.
    static func name(ofTypeURL url: String) -> String? {
        guard let slash = url.lastIndex(of: "/") else { return nil }
        let name = url[url.index(after: slash)...]
        return name.isEmpty ? nil : String(name)
    }
}

/// The tags of the fields of `google.protobuf.Value`, `Struct` and `ListValue`.
enum ValueTag {
    static let null: UInt32 = 1 << 3 | WireType.varint
    static let number: UInt32 = 2 << 3 | WireType.fixed64
    static let string: UInt32 = 3 << 3 | WireType.delimited
    static let bool: UInt32 = 4 << 3 | WireType.varint
    static let structure: UInt32 = 5 << 3 | WireType.delimited
    static let list: UInt32 = 6 << 3 | WireType.delimited
    /// The tag of a Struct's map entries and of a ListValue's values.
    static let entries: UInt32 = 1 << 3 | WireType.delimited
    static let key: UInt32 = 1 << 3 | WireType.delimited
    static let value: UInt32 = 2 << 3 | WireType.delimited
}
