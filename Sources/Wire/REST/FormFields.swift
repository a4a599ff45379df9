import Basics
import Multipart

/// A name and value of a query or a form.
package struct FormField: Sendable, Equatable {
    /// The file properties of a form's part.
    package struct File: Sendable, Equatable {
        /// The name that the client sent; never a path of this machine.
        package var name: String
        /// Empty = the client sent none.
        package var contentType: String
    }

    package var name: String
    package var value: [UInt8]
    /// The file properties; `nil` = the field is not a file.
    package var file: File?

    package init(name: String, value: [UInt8], file: File? = nil) {
        self.name = name
        self.value = value
        self.file = file
    }
}

/// An error in a query or a form; `description` is for its author.
package struct FormError: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The fields of a URL's query, and of a form with the type `application/x-www-form-urlencoded` (WHATWG URL, section 5).
package enum URLEncodedForm {
    /// The largest number of fields.
    package static let maximumFields = 1000

    /// Returns the fields in order. An empty part between two `&` is ignored.
    package static func parse(_ text: [UInt8]) throws(FormError) -> [FormField] {
        var fields: [FormField] = []
        for pair in text.split(separator: UInt8(ascii: "&")) {
            guard fields.count < maximumFields else {
                throw FormError("there are more than \(maximumFields) parameters")
            }
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEscapes.decode(form: parts[0]), let text = String(validating: name, as: UTF8.self),
                let value = PercentEscapes.decode(form: parts.count > 1 ? parts[1] : pair[pair.endIndex...])
            else { throw FormError("the parameters are not correctly percent-encoded") }
            fields.append(FormField(name: text, value: value))
        }
        return fields
    }
}

/// A form of the type `multipart/form-data` whose parts are small.
package enum MultipartForm {
    /// The largest number of parts.
    package static let maximumParts = 32
    /// The largest header section of a part, in bytes.
    package static let maximumHeader = 4096

    /// Returns the parts in order.
    package static func parse(_ body: [UInt8], _ contentType: String) throws(FormError) -> [FormField] {
        guard let boundary = MultipartReader.boundary(contentType) else {
            throw FormError(
                "the content type multipart/form-data must name a boundary of 1 to "
                    + "\(MultipartReader.maximumBoundary) characters")
        }
        var reader = MultipartReader(boundary: boundary, headerLimit: maximumHeader)
        body.withUnsafeBytes { reader.append($0) }
        var fields: [FormField] = []
        while let event = try next(&reader) {
            switch event {
            case .part(let part):
                guard fields.count < maximumParts else {
                    throw FormError("the form has more than \(maximumParts) parts")
                }
                let file = part.fileName.map { FormField.File(name: $0, contentType: part.contentType ?? "") }
                fields.append(FormField(name: part.name, value: [], file: file))
            case .bytes(let bytes): fields[fields.count - 1].value += bytes
            case .endOfPart: break
            case .end: return fields
            }
        }
        throw FormError(
            reader.hasBegun ? "the form ends within a part" : "the form does not begin with its boundary")
    }

    private static func next(_ reader: inout MultipartReader) throws(FormError) -> MultipartReader.Event? {
        do throws(MultipartError) {
            return try reader.next()
        } catch {
            throw FormError(error)
        }
    }
}

extension FormError {
    fileprivate init(_ error: MultipartError) {
        switch error {
        case .boundary: self.init("a boundary of the form is not at the end of a line")
        case .headerTooLong:
            self.init(
                "the header section of a part exceeds the limit of \(MultipartForm.maximumHeader) bytes, or has no end")
        case .notUTF8, .header: self.init("a header field of a part is malformed")
        case .unnamed: self.init("a part must have the field Content-Disposition: form-data with a name")
        case .encoding(let name):
            self.init("a part has the transfer encoding \(name), which forms must not have")
        }
    }
}
