/// The Swift names of protobuf declarations.
enum SwiftNames {
    /// `site_id` → `siteID`, `KEY_DISABLED` → `keyDisabled`; a keyword gets backticks.
    static func member(_ name: String) -> String {
        let words = name.split(separator: "_").map(String.init)
        guard let first = words.first else { return "_" }
        let head = first.allSatisfy { !$0.isLowercase } ? first.lowercased() : lowercasedFirst(first)
        let camel = words.dropFirst().reduce(head) { $0 + capitalized($1) }
        return escaped(camel.first?.isNumber == true ? "_" + camel : camel)
    }

    /// An enum value, without the enum's name as prefix: `DEVICE_STATUS_DISABLED` → `disabled`.
    static func enumCase(_ value: String, of enumName: String) -> String {
        let prefix = snakeCased(enumName).uppercased() + "_"
        guard value.hasPrefix(prefix) else { return member(value.uppercased()) }
        return member(String(value.dropFirst(prefix.count)))
    }

    /// A oneof's type: `message_request` → `MessageRequest`.
    static func oneofType(_ name: String) -> String {
        type(name.split(separator: "_").map { capitalized(String($0)) }.joined(), suffix: "Choice")
    }

    /// A method: `GetApiKey` → `getApiKey`.
    static func method(_ name: String) -> String {
        escaped(lowercasedFirst(name))
    }

    /// A message's or enum's own name, changed if Swift or the generated code uses it for something else.
    static func type(_ name: String, suffix: String) -> String {
        takenTypes.contains(name) ? name + suffix : name
    }

    private static func capitalized(_ word: String) -> String {
        if let initialism = initialisms[word.lowercased()] { return initialism }
        let isAllCaps = word.count > 1 && word.allSatisfy { !$0.isLowercase }
        return word.prefix(1).uppercased() + (isAllCaps ? word.dropFirst().lowercased() : String(word.dropFirst()))
    }

    private static func lowercasedFirst(_ word: String) -> String {
        word.prefix(1).lowercased() + word.dropFirst()
    }

    private static func snakeCased(_ name: String) -> String {
        var result = ""
        for character in name {
            if character.isUppercase, let last = result.last, last != "_" { result.append("_") }
            result.append(character)
        }
        return result
    }

    private static func escaped(_ name: String) -> String {
        if takenMembers.contains(name) { return name + "_" }
        return keywords.contains(name) ? "`\(name)`" : name
    }

    private static let initialisms = ["id": "ID", "ids": "IDs", "uri": "URI", "url": "URL"]

    private static let takenMembers: Set = ["encodedSize", "fullName", "init", "self", "unknownFields", "unrecognized"]

    private static let takenTypes: Set = [
        "Any", "Array", "Bool", "Dictionary", "Double", "Duration", "Equatable", "Error", "Float", "Hashable", "Int",
        "Int32", "Int64", "Message", "Never", "Optional", "Protocol", "Result", "Self", "Sendable", "Set", "String",
        "Task", "Type", "UInt32", "UInt64", "UInt8", "Void",
    ]

    private static let keywords: Set = [
        "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
        "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
        "in", "inout", "internal", "is", "let", "nil", "operator", "private", "protocol", "public", "repeat",
        "rethrows", "return", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
        "typealias", "var", "where", "while",
    ]
}
