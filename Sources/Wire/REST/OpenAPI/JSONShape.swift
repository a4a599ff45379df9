import Basics
import JSON

/// The JSON of protobuf's own messages, if it is not an object of their fields (protobuf, "ProtoJSON Format").
enum JSONShape {
    case time
    case duration
    case text
    case bool
    case number
    case integerText
    case bytes
    case object
    case list
    case anything

    init?(_ fullName: String) {
        switch fullName {
        case "google.protobuf.Timestamp": self = .time
        case "google.protobuf.Duration": self = .duration
        case "google.protobuf.FieldMask", "google.protobuf.StringValue": self = .text
        case "google.protobuf.BoolValue": self = .bool
        case "google.protobuf.Int32Value", "google.protobuf.UInt32Value", "google.protobuf.DoubleValue",
            "google.protobuf.FloatValue":
            self = .number
        case "google.protobuf.Int64Value", "google.protobuf.UInt64Value": self = .integerText
        case "google.protobuf.BytesValue": self = .bytes
        case "google.protobuf.Struct", "google.protobuf.Any": self = .object
        case "google.protobuf.ListValue": self = .list
        case "google.protobuf.Value": self = .anything
        default: return nil
        }
    }

    /// The members of the JSON Schema.
    var members: [(String, JSONValue)] {
        switch self {
        case .time: [("type", .string("string")), ("format", .string("date-time"))]
        case .duration: [("type", .string("string")), ("pattern", .string("^-?[0-9]+(\\.[0-9]{1,9})?s$"))]
        case .text: [("type", .string("string"))]
        case .bool: [("type", .string("boolean"))]
        case .number: [("type", .string("number"))]
        case .integerText: [("type", .string("string")), ("format", .string("int64"))]
        case .bytes: [("type", .string("string")), ("contentEncoding", .string("base64"))]
        case .object: [("type", .string("object"))]
        case .list: [("type", .string("array"))]
        case .anything: []
        }
    }

    var example: JSONValue {
        switch self {
        case .time: .string("2026-01-31T10:00:00Z")
        case .duration: .string("1.500s")
        case .text: .string("text")
        case .bool: .bool(true)
        case .number: .number(1)
        case .integerText: .string("1")
        case .bytes: .string("AQI=")
        case .object: .object([])
        case .list: .array([])
        case .anything: .null
        }
    }
}

extension JSONValue {
    /// Returns an object with these members in order.
    static func members(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(members.map { Member(name: $0.0, value: $0.1) })
    }
}
