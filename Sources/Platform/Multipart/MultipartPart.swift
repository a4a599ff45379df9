import Basics

/// The description of a part by its header section (RFC 7578, section 4).
package struct MultipartPart: Sendable, Equatable {
    /// The name of the field.
    package let name: String
    /// The name of the file, which the client chose; `nil` if the part is not a file.
    package let fileName: String?
    package let contentType: String?

    /// - Parameter header: the lines, without the empty one at the end.
    init(_ header: ArraySlice<UInt8>) throws(MultipartError) {
        guard let text = String(validating: header, as: UTF8.self) else { throw .notUTF8 }
        var (disposition, type): (HeaderParameters?, String?) = (nil, nil)
        for line in text.split(separator: "\r\n") {
            guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw .header }
            let value = Self.trimmed(line[line.utf8.index(after: colon)...])
            switch line[..<colon].lowercased() {
            case "content-disposition": disposition = HeaderParameters(value)
            case "content-type": type = value
            // Section 4.7: the contents of a part are as they are.
            case "content-transfer-encoding" where !["7bit", "8bit", "binary"].contains(value.lowercased()):
                throw .encoding(value)
            default: break
            }
        }
        guard let disposition, disposition.value.lowercased() == "form-data", let name = disposition["name"] else {
            throw .unnamed
        }
        self.name = name
        fileName = disposition["filename"]
        contentType = type
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.utf8.drop { $0 == 0x20 || $0 == 0x09 }
        while text.last == 0x20 || text.last == 0x09 { text.removeLast() }
        return String(Substring(text))
    }
}

/// The reason why a body is not a form.
package enum MultipartError: Error, Sendable, Hashable {
    /// A boundary is not at the end of a line.
    case boundary
    /// A header section is longer than it may be.
    case headerTooLong
    /// A header section is not UTF-8.
    case notUTF8
    /// A header field has no colon.
    case header
    /// A part has no `Content-Disposition: form-data` with a name.
    case unnamed
    /// A part has a transfer encoding.
    case encoding(String)
}
