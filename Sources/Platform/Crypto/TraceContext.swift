import Basics

/// The position of a request in a distributed trace (W3C Trace Context, Recommendation of 23 November 2021).
///
/// Derived from the request's `traceparent` field: the gateway adds a span of its own, whose parent is the sender's span.
package struct TraceContext: Sendable, Hashable {
    /// 32 lower-case hexadecimal digits.
    package let traceID: String
    /// 16 lower-case hexadecimal digits: the sender's span.
    package let parentID: String
    /// 16 lower-case hexadecimal digits: the gateway's span.
    package let spanID: String
    /// Whether the sender records the trace.
    package let isSampled: Bool

    /// Returns `nil` for an invalid field, which is ignored (section 3.2.2). In a field of a later version, the known part is used.
    package init?(traceparent field: some Collection<UInt8>) {
        let bytes = Array(field.prefix(57))
        guard bytes.count >= 55, bytes[2] == Self.hyphen, bytes[35] == Self.hyphen, bytes[52] == Self.hyphen,
            let version = Self.lowercaseHex(bytes[..<2]), version != "ff",
            bytes.count == 55 || version != "00" && bytes[55] == Self.hyphen,
            let traceID = Self.lowercaseHex(bytes[3..<35]), traceID.contains(where: { $0 != "0" }),
            let parentID = Self.lowercaseHex(bytes[36..<52]), parentID.contains(where: { $0 != "0" }),
            let flags = Self.lowercaseHex(bytes[53..<55]), let bits = UInt8(flags, radix: 16)
        else { return nil }
        self.traceID = traceID
        self.parentID = parentID
        isSampled = bits & 1 == 1
        spanID = Random.hex(8)
    }

    /// The field for requests that are made on behalf of this one.
    package var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    private static let hyphen = UInt8(ascii: "-")

    private static func lowercaseHex(_ bytes: ArraySlice<UInt8>) -> String? {
        let isHex = bytes.allSatisfy { $0.isASCIILowercaseHexDigit }
        return isHex ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
