import Basics

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
