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
