import Protobuf

/// The messages and enums of the request by full name, e.g. `.archebase.auth.v1.User`.
struct TypeIndex {
    struct Entry {
        /// The name in Swift code of the module, e.g. `HealthCheckResponse.ServingStatus`.
        let swiftName: String
        /// `nil` for an enum.
        let message: DescriptorProto?
    }

    private var entries: [String: Entry] = [:]

    init(files: [FileDescriptorProto], prefixes: [String: String]) {
        for file in files {
            let package = file.package ?? ""
            let prefix = prefixes[package] ?? ""
            let scope = package.isEmpty ? "" : ".\(package)"
            for message in file.messageType { add(message, scope: scope, swiftScope: "", prefix: prefix) }
            for enumType in file.enumType { add(enumType, scope: scope, swiftScope: "", prefix: prefix) }
        }
    }

    private mutating func add(_ message: DescriptorProto, scope: String, swiftScope: String, prefix: String) {
        let name = message.name ?? ""
        let fullName = "\(scope).\(name)"
        let swiftName = swiftScope + SwiftNames.type(prefix + name, suffix: "Message")
        entries[fullName] = Entry(swiftName: swiftName, message: message)
        for nested in message.nestedType { add(nested, scope: fullName, swiftScope: "\(swiftName).", prefix: "") }
        for nested in message.enumType { add(nested, scope: fullName, swiftScope: "\(swiftName).", prefix: "") }
    }

    private mutating func add(_ enumType: EnumDescriptorProto, scope: String, swiftScope: String, prefix: String) {
        let name = enumType.name ?? ""
        let swiftName = swiftScope + SwiftNames.type(prefix + name, suffix: "Enum")
        entries["\(scope).\(name)"] = Entry(swiftName: swiftName, message: nil)
    }

    subscript(fullName: String) -> Entry {
        get throws(PluginError) {
            guard let entry = entries[fullName] else { throw PluginError("no type is named \(fullName)") }
            return entry
        }
    }

    /// Whether a value of message `start` would contain another `goal` directly, not in an array or a dictionary.
    func embeds(_ goal: String, in start: String) -> Bool {
        var seen: Set<String> = []
        var pending = [start]
        while let name = pending.popLast() {
            if name == goal { return true }
            guard seen.insert(name).inserted, let message = entries[name]?.message else { continue }
            for field in message.field where field.type == .message && field.label != .repeated {
                pending.append(field.typeName ?? "")
            }
        }
        return false
    }
}
