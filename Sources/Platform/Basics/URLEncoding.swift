/// The percent-encoding (RFC 3986, section 2.1) of URLs, of forms and of the signatures of both: everything except unreserved
/// characters, in upper-case hexadecimal, over the UTF-8 bytes.
///
/// The functions take concrete types: other modules call them for each request, and the compiler does not specialize generic
/// functions across modules.
package enum URLEncoding {
    package static func encode(_ text: String, keepingSlashes: Bool = false) -> String {
        let isPlain = text.utf8.allSatisfy { isUnreserved($0) || (keepingSlashes && $0 == UInt8(ascii: "/")) }
        if isPlain { return text }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) || (keepingSlashes && byte == UInt8(ascii: "/")) {
                encoded.append(byte)
            } else {
                PercentEscapes.append(byte, to: &encoded)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Returns names and values as in a form or a query (application/x-www-form-urlencoded).
    package static func form(_ fields: [(name: String, value: String)]) -> String {
        fields.map { "\(encode($0.name))=\(encode($0.value))" }.joined(separator: "&")
    }

    /// Decodes exactly once; `+` stands for itself. `nil` for a `%` without two hexadecimal digits, and for results that are not
    /// UTF-8.
    package static func decode(_ text: String) -> String? {
        decode(text[...])
    }

    package static func decode(_ text: Substring) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        return PercentEscapes.decode(Array(text.utf8)).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Decodes a name or a value of a query. There `+` stands for a space, as in HTML's forms: oss2 and other clients of Python's
    /// requests send spaces like that, and sign them as `%20`.
    package static func decode(query text: Substring) -> String? {
        guard text.utf8.contains(UInt8(ascii: "+")) else { return decode(text) }
        return decode(text.replacing("+", with: "%20"))
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "-_.~".utf8.contains(byte)
    }
}
