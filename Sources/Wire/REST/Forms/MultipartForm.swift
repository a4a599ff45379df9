import Basics
import Multipart

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
