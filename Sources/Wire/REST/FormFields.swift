import Basics

/// A name with a value, of a query or a form.
package struct FormField: Sendable, Equatable {
    /// What a part of a form says of the file that it is.
    package struct File: Sendable, Equatable {
        /// The name that the client sent; never a path of this machine.
        package var name: String
        /// Empty = the client sent none.
        package var contentType: String
    }

    package var name: String
    package var value: [UInt8]
    /// `nil` = it is no file.
    package var file: File?

    package init(name: String, value: [UInt8], file: File? = nil) {
        self.name = name
        self.value = value
        self.file = file
    }
}

/// Why a query or a form cannot be read; `description` is for the person who wrote it.
package struct FormError: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Fields as the query of a URL has them, and a form of the type `application/x-www-form-urlencoded` (WHATWG URL, section 5).
package enum URLEncodedForm {
    /// Fields that there may be.
    package static let maximumFields = 1000

    /// The fields in their order. An empty piece between two `&` is none.
    package static func parse(_ text: some Collection<UInt8>) throws(FormError) -> [FormField] {
        var fields: [FormField] = []
        for pair in text.split(separator: UInt8(ascii: "&")) {
            guard fields.count < maximumFields else {
                throw FormError("there are more than \(maximumFields) parameters")
            }
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = unescape(parts[0]), let text = String(validating: name, as: UTF8.self),
                let value = unescape(parts.count > 1 ? parts[1] : pair[pair.endIndex...])
            else { throw FormError("the parameters are not correctly percent-encoded") }
            fields.append(FormField(name: text, value: value))
        }
        return fields
    }

    private static func unescape(_ text: some Collection<UInt8>) -> [UInt8]? {
        PercentEscapes.decode(text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
    }
}
