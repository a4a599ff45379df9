import JSON

/// The values of other parties: claims, and the members of keys and of discovery documents.
extension JSONValue {
    /// Reads a value strictly: no repeated member at any depth (RFC 8725, section 2.7), valid UTF-8, bounded depth.
    ///
    /// - Returns: `nil` for anything that is not one value by these rules.
    package init?(claims text: [UInt8]) {
        guard let value = try? JSONValue(parsing: text, .token) else { return nil }
        self = value
    }

    /// A truth value, which some providers send as text.
    package var flag: Bool? {
        switch self {
        case .bool(let flag): flag
        case .string("true"): true
        case .string("false"): false
        default: nil
        }
    }

    /// The whole seconds of a NumericDate, rounded down (RFC 7519, section 2); `nil` outside the years 1970 to 9999.
    package var seconds: Int64? {
        guard let number = double, (0...253_402_300_799).contains(number) else { return nil }
        return Int64(number.rounded(.down))
    }

    /// The text of a single value as a claim is compared with the configuration; `nil` for lists, objects and null.
    package var comparableText: String? {
        switch self {
        case .string(let text), .decimal(let text): text
        case .number(let number): "\(number)"
        case .bool(let flag): "\(flag)"
        case .null, .array, .object: nil
        }
    }
}
