import Basics
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

/// The text formats of Timestamp (RFC 3339) and Duration (decimal seconds).
enum TimeText {
    /// 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
    static let timestampSeconds: ClosedRange<Int64> = -62_135_596_800...253_402_300_799
    /// About 10,000 years in either direction.
    static let durationSeconds: ClosedRange<Int64> = -315_576_000_000...315_576_000_000

    static func timestamp(seconds: Int64, nanos: Int32) -> String? {
        guard timestampSeconds ~= seconds, 0...999_999_999 ~= nanos else { return nil }
        return RFC3339.text(UnixTime(seconds: seconds), nanoseconds: nanos)
    }

    static func duration(seconds: Int64, nanos: Int32) -> String? {
        guard durationSeconds ~= seconds, -999_999_999...999_999_999 ~= nanos else { return nil }
        if seconds > 0 && nanos < 0 || seconds < 0 && nanos > 0 { return nil }
        return (seconds < 0 || nanos < 0 ? "-" : "") + "\(seconds.magnitude)" + RFC3339.fraction(nanos) + "s"
    }

    static func parseTimestamp(_ text: String) -> (seconds: Int64, nanos: Int32)? {
        // Stricter than RFC 3339: upper-case letters and at most nine digits of a fraction.
        guard !text.utf8.contains(where: { $0 == UInt8(ascii: "t") || $0 == UInt8(ascii: "z") }),
            text.utf8.drop(while: { $0 != UInt8(ascii: ".") }).dropFirst().prefix(while: { $0.isASCIIDigit }).count
                <= 9,
            let time = RFC3339.parse(text), timestampSeconds ~= time.second.seconds
        else { return nil }
        return (time.second.seconds, time.nanoseconds)
    }

    static func parseDuration(_ text: String) -> (seconds: Int64, nanos: Int32)? {
        var text = text.utf8[...]
        let isNegative = take("-", of: &text)
        let whole = text.prefix(while: { $0.isASCIIDigit })
        guard let seconds = Int64(Substring(whole)) else { return nil }
        text = text.dropFirst(whole.count)
        guard let nanos = parseFraction(&text), take("s", of: &text), text.isEmpty else { return nil }
        guard seconds <= durationSeconds.upperBound else { return nil }
        return isNegative ? (-seconds, -nanos) : (seconds, nanos)
    }

    // MARK: Parts

    private static func parseFraction(_ text: inout Substring.UTF8View) -> Int32? {
        guard take(".", of: &text) else { return 0 }
        var nanos: Int32 = 0
        var count = 0
        while let digit = text.first, digit.isASCIIDigit {
            if count == 9 { return nil }
            nanos = nanos * 10 + Int32(digit - UInt8(ascii: "0"))
            count += 1
            text.removeFirst()
        }
        if count == 0 { return nil }
        for _ in count..<9 { nanos *= 10 }
        return nanos
    }

    private static func take(_ character: Unicode.Scalar, of text: inout Substring.UTF8View) -> Bool {
        guard text.first == UInt8(ascii: character) else { return false }
        text.removeFirst()
        return true
    }
}

/// Conversion of FieldMask paths between field names and JSON's spelling.
enum FieldMaskText {
    /// Converts to camel case; `nil` if converting back would give another path.
    static func camel(_ path: String) -> String? {
        if path.isEmpty { return nil }
        var camel = ""
        var raises = false
        for character in path.unicodeScalars {
            switch character {
            // A comma would split it into two paths.
            case "A"..."Z", ",": return nil
            case "_":
                if raises { return nil }
                raises = true
            case "a"..."z":
                camel.append(raises ? String(character).uppercased() : String(character))
                raises = false
            default:
                if raises { return nil }
                camel.unicodeScalars.append(character)
            }
        }
        return raises ? nil : camel
    }

    /// Converts from camel case; `nil` for empty text or text with an underscore, which camel case never has.
    static func snake(_ camel: String) -> String? {
        if camel.isEmpty { return nil }
        var path = ""
        for character in camel.unicodeScalars {
            switch character {
            case "_": return nil
            case "A"..."Z": path += "_" + String(character).lowercased()
            default: path.unicodeScalars.append(character)
            }
        }
        return path
    }
}
