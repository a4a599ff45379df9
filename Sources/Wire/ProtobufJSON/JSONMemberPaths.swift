package import JSON
import Protobuf

extension JSONMapping {
    /// Returns the paths of the members of a JSON object, with the names of the .proto file: for a single nested message the paths
    /// of its members, otherwise the member's own. Members that are not fields are omitted.
    ///
    /// The result is the field mask of a PATCH without one (AIP-134).
    package func memberPaths(_ json: [UInt8], of fullName: String) throws(JSONError) -> [String] {
        var paths = JSONMemberPaths(json, schema)
        try paths.object(fullName, prefix: "")
        return paths.found
    }
}

private struct JSONMemberPaths {
    private var scanner: JSONScanner
    private let schema: Schema
    private(set) var found: [String] = []

    init(_ text: [UInt8], _ schema: Schema) {
        scanner = JSONScanner(text, .message)
        self.schema = schema
    }

    mutating func object(_ fullName: String, prefix: String) throws(JSONError) {
        var isFirst = true
        try scanner.beginObject()
        while let name = try scanner.nextMember(&isFirst) {
            guard let field = schema.messages[fullName]?.field(name) else {
                try scanner.skip()
                continue
            }
            if field.kind == .message, !field.isRepeated, WellKnownType(rawValue: field.typeName) == nil,
                scanner.next(is: "{")
            {
                try object(field.typeName, prefix: "\(prefix)\(field.name).")
            } else {
                found.append(prefix + field.name)
                try scanner.skip()
            }
        }
    }
}
