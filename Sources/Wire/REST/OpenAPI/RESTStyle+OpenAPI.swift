import Basics
import JSON
import Protobuf

/// The description of the shapes of errors.
extension RESTStyle.Errors {
    /// The name of the schema and of the response.
    var componentName: String {
        switch self {
        case .status: "Failure"
        case .nested: "NestedFailure"
        case .http: "HTTPFailure"
        case .codeMsg: "CodeFailure"
        case .message: "MessageFailure"
        case .envelope: "EnvelopeFailure"
        }
    }

    var response: JSONValue {
        let content: [(String, JSONValue)] = [
            ("schema", .members([("$ref", .string("#/components/schemas/\(componentName)"))])), ("example", example),
        ]
        return .members([
            ("description", .string("The call failed.")),
            ("content", .members([("application/json", .members(content))])),
        ])
    }

    private var example: JSONValue {
        switch self {
        case .status:
            .members([
                (
                    "error",
                    .members([
                        ("code", .number(404)), ("message", .string("site 7 does not exist")),
                        ("status", .string("NOT_FOUND")),
                        (
                            "details",
                            .array([
                                .members([
                                    ("@type", .string("type.googleapis.com/google.rpc.ErrorInfo")),
                                    ("reason", .string("NOT_FOUND")), ("domain", .string("data-gateway")),
                                ])
                            ])
                        ),
                    ])
                )
            ])
        case .nested: .members([("error", .members([("code", .string("NOT_FOUND")), ("message", .string("text"))]))])
        case .http:
            .members([("message", .string("text")), ("error", .string("Not Found")), ("statusCode", .number(404))])
        case .codeMsg: .members([("code", .number(-1)), ("msg", .string("text"))])
        case .message: .members([("message", .string("text"))])
        case .envelope:
            .members([
                ("success", .bool(false)), ("statusCode", .number(404)), ("message", .string("text")),
                ("errorCode", .string("NOT_FOUND")),
            ])
        }
    }

    var schema: JSONValue {
        switch self {
        case .status:
            Self.object([
                (
                    "error",
                    Self.object([
                        ("code", Self.integer), ("message", Self.text), ("status", Self.text),
                        ("details", Self.list(Self.object([("@type", Self.text)]))),
                    ])
                )
            ])
        case .nested: Self.object([("error", Self.object([("code", Self.text), ("message", Self.text)]))])
        case .http:
            Self.object([
                ("message", .members([("anyOf", .array([Self.text, Self.list(Self.text)]))])), ("error", Self.text),
                ("statusCode", Self.integer),
            ])
        case .codeMsg: Self.object([("code", Self.integer), ("msg", Self.text)])
        case .message: Self.object([("message", Self.text)])
        case .envelope:
            Self.object([
                ("success", Self.bool), ("statusCode", Self.integer), ("message", Self.text), ("errorCode", Self.text),
            ])
        }
    }

    /// Returns the schema and the example of a successful response in JSON.
    func success(_ schema: JSONValue, example: JSONValue) -> (schema: JSONValue, example: JSONValue) {
        guard self == .envelope else { return (schema, example) }
        let time: JSONValue = .members([("type", .string("string")), ("format", .string("date-time"))])
        return (
            Self.object([("success", Self.bool), ("data", schema), ("timestamp", time)]),
            .members([
                ("success", .bool(true)), ("data", example), ("timestamp", .string("2026-01-31T08:00:00.123Z")),
            ])
        )
    }

    private static let text: JSONValue = .members([("type", .string("string"))])
    private static let bool: JSONValue = .members([("type", .string("boolean"))])
    private static let integer: JSONValue = .members([("type", .string("integer"))])

    private static func list(_ element: JSONValue) -> JSONValue {
        .members([("type", .string("array")), ("items", element)])
    }

    private static func object(_ properties: [(String, JSONValue)]) -> JSONValue {
        .members([
            ("type", .string("object")), ("properties", .members(properties)),
            ("required", .array(properties.map { .string($0.0) })),
        ])
    }
}
