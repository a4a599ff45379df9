import CommonProto
import GRPCWire
import JSON
import Protobuf
import ProtobufJSON
import REST

/// Builds the request message of a call from the path, the query and the body of an HTTP request.
///
/// Protobuf merges consecutive parts of a message: the request is the body's encoding, then the query's, then the path's, so the
/// path takes precedence.
///
/// Sendable although it is mutable: its state is used on the call's loop only, which ``ServerCall`` checks.
final class RESTRequestReader: @unchecked Sendable {  // state belongs to the call's loop
    let route: RESTRoute
    private let contentType: String
    /// The encoded fields of the query and of the path.
    private let parameters: [UInt8]
    /// Whether the query has the field mask.
    private let hasMask: Bool
    /// Whether a part of the body has become a message.
    private var hasBegun = false

    /// - Parameters:
    ///   - query: the text after the `?`; empty without a query.
    ///   - contentType: empty without the field.
    init(
        _ route: RESTRoute, path: RoutePath, query: Substring.UTF8View, contentType: String
    ) throws(RPCError) {
        self.route = route
        self.contentType = contentType
        var taken = route.captures.map(\.field.name)
        if case .json(let field?) = route.requestBody { taken.append(field.name) }
        if case .raw(let field?) = route.requestBody { taken.append(field.name) }
        var encoded: [UInt8] = []
        var hasMask = false
        if !query.isEmpty {
            var encoder = ParameterEncoder(
                route.input, route.json.schema, ignoresUnknown: route.style.ignoresUnknown, taken: taken)
            for parameter in try Self.form({ () throws(FormError) in try URLEncodedForm.parse(Array(query)) }) {
                guard route.takesQuery || route.style.ignoresUnknown else {
                    throw .invalidRequest(
                        "\(parameter.name.prefix(200)) must be in the body: this request takes no parameters")
                }
                if route.takesQuery { try encoder.append(parameter) }
            }
            encoded = encoder.encoded
            hasMask = route.updateMask.map { encoder.has($0.name) } ?? false
        }
        let reader = ParameterReader(route.json.schema)
        for (variable, field) in route.captures {
            guard let text = path.value(of: variable, in: route.template),
                let value = reader.value(text, of: field.last)
            else {
                throw .invalidRequest(
                    "\(field.name) in the path: the value is not valid for the field", field: field.last.jsonName)
            }
            field.append(value, to: &encoded)
        }
        parameters = encoded
        self.hasMask = hasMask
    }

    /// Returns the request of a complete body, or the next message of a body in pieces.
    func request(_ body: UnsafeRawBufferPointer) throws(RPCError) -> [UInt8] {
        switch route.requestBody {
        case .none:
            guard body.isEmpty || route.style.ignoresUnknown else {
                throw .invalidRequest("\(route.httpMethod) of this path takes no body")
            }
            return parameters
        case .json(let field):
            if body.isEmpty {
                guard !route.requiresBody else {
                    throw .invalidRequest(
                        "the body is missing: \(route.httpMethod) of this path needs a JSON object")
                }
                return parameters
            }
            return try whole(Array(body), field) + parameters
        case .raw(let field):
            defer { hasBegun = true }
            var content: [UInt8] = []
            if !hasBegun, !contentType.isEmpty {
                content.append(field: 1 << 3 | WireType.delimited, .delimited(Array(contentType.utf8)))
            }
            if !body.isEmpty { content.append(field: 2 << 3 | WireType.delimited, .delimited(Array(body))) }
            guard let field else { return content + (hasBegun ? [] : parameters) }
            var message: [UInt8] = []
            message.append(field: field.tag, .delimited(content))
            return message + (hasBegun ? [] : parameters)
        }
    }

    private func whole(_ body: [UInt8], _ field: FieldSchema?) throws(RPCError) -> [UInt8] {
        let type = route.bodyType
        let mediaType = RESTRoute.mediaType(contentType)
        let content: [UInt8]
        var mask: [UInt8] = []
        if mediaType == "application/json" || route.style.sniffsJSON && Self.looksLikeJSON(body) {
            content = try json(body, type)
            if let maskField = route.updateMask, !hasMask { mask = try self.mask(maskField, body, type) }
        } else if route.style.takesForms, let fields = try form(body, mediaType) {
            var encoder = ParameterEncoder(type, route.json.schema, ignoresUnknown: route.style.ignoresUnknown)
            for each in fields { try encoder.append(each) }
            content = encoder.encoded
        } else {
            throw .invalidRequest("the content type of the body must be \(route.bodyTypes.joined(separator: " or "))")
        }
        guard let field else { return content }
        var message: [UInt8] = []
        message.append(field: field.tag, .delimited(content))
        return message + mask
    }

    private func json(_ body: [UInt8], _ type: String) throws(RPCError) -> [UInt8] {
        do throws(JSONError) {
            return try route.json.encode(body, as: type, ignoresUnknownFields: route.style.ignoresUnknown)
        } catch {
            throw .invalidRequest(
                "the body is not the JSON that this path takes: \(error.explanation)", field: error.field)
        }
    }

    private func mask(_ field: FieldSchema, _ body: [UInt8], _ type: String) throws(RPCError) -> [UInt8] {
        guard let paths = try? route.json.memberPaths(body, of: type) else { return [] }
        var message: [UInt8] = []
        message.append(field: field.tag, .delimited(FieldMask(paths: paths).encoded()))
        return message
    }

    /// Returns the fields of a form; `nil` if the media type is not a form's.
    private func form(_ body: [UInt8], _ mediaType: String) throws(RPCError) -> [FormField]? {
        switch mediaType {
        case "application/x-www-form-urlencoded":
            return try Self.form { () throws(FormError) in try URLEncodedForm.parse(body) }
        case "multipart/form-data":
            return try Self.form { () throws(FormError) in try MultipartForm.parse(body, contentType) }
        default: return nil
        }
    }

    private static func form(_ parse: () throws(FormError) -> [FormField]) throws(RPCError) -> [FormField] {
        do throws(FormError) {
            return try parse()
        } catch {
            throw .invalidRequest(error.description)
        }
    }

    private static func looksLikeJSON(_ body: [UInt8]) -> Bool {
        body.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "{")
    }
}

extension RESTRoute {
    /// The media types that a body can have; empty = any, or there is no body.
    var bodyTypes: [String] {
        guard case .json = requestBody else { return [] }
        let forms = ["application/x-www-form-urlencoded", "multipart/form-data"]
        return [Self.json] + (style.takesForms ? forms : [])
    }

    /// Returns a content type without its parameters; empty without the field.
    static func mediaType(_ contentType: String) -> String {
        contentType.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
    }

    /// Whether a body with that content type can be read. Without a content type the body may be empty.
    func accepts(_ contentType: String) -> Bool {
        guard case .json = requestBody, !style.sniffsJSON, !contentType.isEmpty else { return true }
        let mediaType = Self.mediaType(contentType)
        guard bodyTypes.contains(mediaType) else { return false }
        return mediaType != Self.json || WebContentType(contentType) != nil
    }
}

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
