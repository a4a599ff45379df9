package import Protobuf
package import ProtobufJSON

extension HTTPRoute {
    /// Whether a request without a body is refused. The body of a PUT or PATCH is the new state: without one, every field would be reset.
    /// A POST without a body is the same as one with `{}`; its method checks the fields that it needs.
    ///
    /// The OpenAPI document and the adapter follow this rule; the document also requires a body with a member that the method needs.
    package func requiresBody(_ schema: Schema) -> Bool {
        guard ["PUT", "PATCH"].contains(httpMethod) else { return false }
        switch body {
        case .none: return false
        case .whole:
            let captured = Set(template.variables.compactMap { FieldPath($0.field, in: input, of: schema)?.name })
            return schema.messages[input]?.fields.contains { !captured.contains($0.name) } ?? false
        // A file may be empty.
        case .field(let name): return schema.messages[input]?.field(name)?.typeName != "google.api.HttpBody"
        }
    }
}
