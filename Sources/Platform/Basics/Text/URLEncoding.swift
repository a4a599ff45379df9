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
        return decode(text.replacing(bytes: ["+": "%20"]))
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "-_.~".utf8.contains(byte)
    }
}

/// Escapes of percent-encoding: `%` and two hexadecimal digits in place of one byte (RFC 3986, section 2.1).
///
/// The syntax that uses them decides which bytes are escaped.
package enum PercentEscapes {
    private static let digits: [UInt8] = Array("0123456789ABCDEF".utf8)

    package static func append(_ byte: UInt8, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "%"))
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }

    /// Replaces each escape in a text by its byte.
    ///
    /// - Parameter keepsMalformed: whether a `%` without two hexadecimal digits stands for itself.
    /// - Returns: `nil` if there is such a `%` and `keepsMalformed` is false.
    package static func decode(_ text: [UInt8], keepsMalformed: Bool = false) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            guard text[index] == UInt8(ascii: "%") else {
                decoded.append(text[index])
                index += 1
                continue
            }
            if index + 2 < text.count, let high = text[index + 1].hexDigitValue, let low = text[index + 2].hexDigitValue
            {
                decoded.append(high << 4 | low)
                index += 3
            } else if keepsMalformed {
                decoded.append(text[index])
                index += 1
            } else {
                return nil
            }
        }
        return decoded
    }

    /// Decodes a name or a value of a form or a query (application/x-www-form-urlencoded), where `+` means a space.
    ///
    /// - Returns: `nil` for a `%` without two hexadecimal digits.
    package static func decode(form text: ArraySlice<UInt8>) -> [UInt8]? {
        decode(text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
    }
}
