import Basics

/// Names and values as in a form or a query (application/x-www-form-urlencoded), every byte but the unreserved ones of RFC 3986
/// escaped.
enum FormEncoding {
    static func encode(_ fields: [(name: String, value: String)]) -> String {
        fields.map { "\(escape($0.name))=\(escape($0.value))" }.joined(separator: "&")
    }

    static func escape(_ text: String) -> String {
        var escaped: [UInt8] = []
        for byte in text.utf8 {
            if byte.isASCIIAlphanumeric || "-._~".utf8.contains(byte) {
                escaped.append(byte)
            } else {
                PercentEscapes.append(byte, to: &escaped)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}
