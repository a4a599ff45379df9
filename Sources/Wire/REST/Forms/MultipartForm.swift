import Basics

/// A form of the type `multipart/form-data` (RFC 7578; the framing is that of RFC 2046, section 5.1).
package enum MultipartForm {
    /// Parts that there may be.
    package static let maximumParts = 32
    /// Bytes of a part's header section.
    package static let maximumHeader = 4096
    /// Characters of a boundary (RFC 2046, section 5.1.1).
    package static let maximumBoundary = 70

    /// The boundary that a content type names; `nil` where it is none of a form in parts, or names no proper boundary.
    package static func boundary(_ contentType: String) -> [UInt8]? {
        let parameters = HeaderParameters(contentType)
        guard parameters.value.lowercased() == "multipart/form-data", let boundary = parameters["boundary"] else {
            return nil
        }
        let bytes = Array(boundary.utf8)
        guard (1...maximumBoundary).contains(bytes.count), bytes.allSatisfy(isOfBoundary), bytes.last != 0x20 else {
            return nil
        }
        return bytes
    }

    private static func isOfBoundary(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "'()+_,-./:=? ".utf8.contains(byte)
    }

    /// The parts in their order.
    package static func parse(_ body: [UInt8], boundary: [UInt8]) throws(FormError) -> [FormField] {
        let delimiter = Array("--".utf8) + boundary
        guard var rest = afterFirst(delimiter, body) else {
            throw FormError("the form does not begin with its boundary")
        }
        var fields: [FormField] = []
        while true {
            if rest.starts(with: "--".utf8) { return fields }
            guard let headers = skipLineEnd(rest) else {
                throw FormError("a boundary of the form is not at the end of a line")
            }
            guard fields.count < maximumParts else { throw FormError("the form has more than \(maximumParts) parts") }
            let (field, start) = try header(headers)
            guard let end = find([0x0D, 0x0A] + delimiter, in: body, from: start) else {
                throw FormError("the form ends within a part")
            }
            fields.append(FormField(name: field.name, value: Array(body[start..<end]), file: field.file))
            rest = body[(end + 2 + delimiter.count)...]
        }
    }

    /// What follows the first delimiter, which begins a line.
    private static func afterFirst(_ delimiter: [UInt8], _ body: [UInt8]) -> ArraySlice<UInt8>? {
        if body.starts(with: delimiter) { return body[delimiter.count...] }
        return find([0x0D, 0x0A] + delimiter, in: body, from: 0).map { body[($0 + 2 + delimiter.count)...] }
    }

    /// What follows the end of a line, before which blanks may be (RFC 2046, section 5.1.1).
    private static func skipLineEnd(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let text = text.drop { $0 == 0x20 || $0 == 0x09 }
        return text.starts(with: [0x0D, 0x0A]) ? text.dropFirst(2) : nil
    }

    private static func find(_ pattern: [UInt8], in body: [UInt8], from start: Int) -> Int? {
        var index = start
        while index + pattern.count <= body.count {
            guard let candidate = body[index...].firstIndex(of: pattern[0]), candidate + pattern.count <= body.count
            else {
                return nil
            }
            if body[candidate..<candidate + pattern.count].elementsEqual(pattern) { return candidate }
            index = candidate + 1
        }
        return nil
    }

    /// - Returns: what a part's header section says, and where its body begins.
    private static func header(_ text: ArraySlice<UInt8>) throws(FormError) -> (FormField, start: Int) {
        var rest = text
        var disposition: HeaderParameters?
        var contentType: String?
        while true {
            guard let end = rest.indices.first(where: { rest[$0...].starts(with: [0x0D, 0x0A]) }),
                end - text.startIndex <= maximumHeader
            else {
                throw FormError(
                    "the header section of a part exceeds the limit of \(maximumHeader) bytes, or has no end")
            }
            let line = rest[rest.startIndex..<end]
            rest = rest[(end + 2)...]
            if line.isEmpty { break }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let value = String(validating: line[(colon + 1)...], as: UTF8.self)
            else { throw FormError("a header field of a part is malformed") }
            let name = String(decoding: line[..<colon].map(\.asciiLowercased), as: UTF8.self)
            let trimmed = String(value.drop { $0 == " " || $0 == "\t" })
            if name == "content-disposition" { disposition = HeaderParameters(trimmed) }
            if name == "content-type" { contentType = trimmed }
            if name == "content-transfer-encoding", !["7bit", "8bit", "binary"].contains(trimmed.lowercased()) {
                throw FormError("a part has the transfer encoding \(trimmed), which forms must not have")
            }
        }
        guard let disposition, disposition.value.lowercased() == "form-data", let name = disposition["name"] else {
            throw FormError("a part must have the field Content-Disposition: form-data with a name")
        }
        let file = disposition["filename"].map { FormField.File(name: $0, contentType: contentType ?? "") }
        return (FormField(name: name, value: [], file: file), rest.startIndex)
    }
}

/// A header field's value with its parameters: `form-data; name="a"` (RFC 9110, section 5.6.6).
struct HeaderParameters {
    /// What stands before the first semicolon.
    let value: String
    private var parameters: [(name: String, value: String)] = []

    init(_ text: String) {
        var rest = text[...]
        value = String(rest.prefix { $0 != ";" }).trimmingBlanks
        rest = rest.drop { $0 != ";" }
        while rest.first == ";" {
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest.dropFirst(name.count)
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst()
            let value: String
            if rest.first == "\"" {
                value = Self.quoted(&rest)
                rest = rest.drop { $0 != ";" }
            } else {
                value = String(rest.prefix { $0 != ";" }).trimmingBlanks
                rest = rest.drop { $0 != ";" }
            }
            parameters.append((name.lowercased().trimmingBlanks, value))
        }
    }

    /// Browsers escape a quote as `%22` and a backslash not at all (WHATWG HTML, "multipart form data"); others put a backslash
    /// before each (RFC 9110, section 5.6.4).
    private static func quoted(_ rest: inout Substring) -> String {
        rest = rest.dropFirst()
        var value = ""
        while let character = rest.popFirst(), character != "\"" {
            if character == "\\", let next = rest.first, next == "\"" || next == "\\" {
                value.append(next)
                rest = rest.dropFirst()
            } else {
                value.append(character)
            }
        }
        return value
    }

    /// The value of a parameter that is there once.
    subscript(name: String) -> String? {
        let found = parameters.filter { $0.name == name }
        return found.count == 1 ? found[0].value : nil
    }
}

extension StringProtocol {
    fileprivate var trimmingBlanks: String {
        var text = self[...].drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text = text.dropLast() }
        return String(text)
    }
}
