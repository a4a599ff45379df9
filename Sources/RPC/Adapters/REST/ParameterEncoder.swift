import CommonProto
import Protobuf
import ProtobufJSON
import REST

/// Encodes the fields of a query or of a form as parts of the request message.
struct ParameterEncoder {
    private let message: String
    private let schema: Schema
    private let ignoresUnknown: Bool
    private let reader: ParameterReader
    /// The names of fields that were given and must not be repeated.
    private var seen: Set<String>
    /// The message's name and the number of each oneof that has a value.
    private var oneofs: Set<String> = []
    private(set) var encoded: [UInt8] = []

    /// - Parameters:
    ///   - message: the full name.
    ///   - taken: fields that have a value from another part of the request.
    init(_ message: String, _ schema: Schema, ignoresUnknown: Bool, taken: [String] = []) {
        self.message = message
        self.schema = schema
        self.ignoresUnknown = ignoresUnknown
        reader = ParameterReader(schema)
        seen = Set(taken)
    }

    /// Whether the field, with its name in the .proto file, was given.
    func has(_ name: String) -> Bool { seen.contains(name) }

    mutating func append(_ parameter: FormField) throws(RPCError) {
        guard let path = FieldPath(parameter.name, in: message, of: schema) else {
            if ignoresUnknown { return }
            throw .invalidRequest("the parameter \(parameter.name.prefix(200)) is unknown")
        }
        let field = path.last
        guard field.isRepeated || seen.insert(path.name).inserted else {
            throw .invalidRequest("\(path.name) is given twice, or is in the path as well")
        }
        if field.oneof != nil {
            let scope = path.fields.dropLast().map(\.name).joined(separator: ".")
            guard oneofs.insert("\(scope) \(field.oneof ?? 0)").inserted else {
                throw .invalidRequest("\(path.name) cannot be combined with another parameter of the request")
            }
        }
        if let file = parameter.file { return try append(parameter.value, of: file, to: path) }
        guard reader.accepts(field) else { throw .invalidRequest("\(path.name) cannot be a parameter") }
        guard let value = reader.value(parameter.value, of: field) else {
            throw .invalidRequest("\(path.name): the value is not valid for the field", field: parameter.name)
        }
        if field.hasPresence || field.isRepeated || !value.isInitial { path.append(value, to: &encoded) }
    }

    private mutating func append(_ content: [UInt8], of file: FormField.File, to path: FieldPath) throws(RPCError) {
        switch (path.last.kind, path.last.typeName) {
        case (.message, FormFile.fullName):
            let message = FormFile(filename: file.name, contentType: file.contentType, content: content)
            path.append(.delimited(message.encoded()), to: &encoded)
        case (.bytes, _):
            path.append(.delimited(content), to: &encoded)
        default:
            throw .invalidRequest("\(path.name) cannot be a file")
        }
    }
}
