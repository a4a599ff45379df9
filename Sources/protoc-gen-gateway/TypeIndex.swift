import Protobuf

/// The messages and enums of the request by full name, e.g. `.archebase.auth.v1.User`.
struct TypeIndex {
    struct Entry {
        /// The name in Swift code of the module, e.g. `HealthCheckResponse.ServingStatus`.
        let swiftName: String
        /// `nil` for an enum.
        let message: DescriptorProto?
        /// Whether its code is in another module than the codec's, which every file imports: the request does not ask for its file.
        let isForeign: Bool
    }

    /// The file of the types that the codec itself declares.
    private static let descriptorFile = "google/protobuf/descriptor.proto"

    private var entries: [String: Entry] = [:]

    init(files: [FileDescriptorProto], wanted: Set<String>, prefixes: [String: String]) {
        for file in files {
            let isForeign = !wanted.contains(file.name ?? "") && file.name != Self.descriptorFile
            let package = file.package ?? ""
            let prefix = prefixes[package] ?? ""
            let scope = package.isEmpty ? "" : ".\(package)"
            let place = Place(scope: scope, prefix: prefix, isForeign: isForeign)
            for message in file.messageType { add(message, to: place) }
            for enumType in file.enumType { add(enumType, to: place) }
        }
    }

    /// The place of a declaration.
    private struct Place {
        /// The full name of the package or message, e.g. `.archebase.auth.v1`.
        let scope: String
        /// The Swift name of the outer type, with a dot; empty = the types are not nested.
        var outer = ""
        /// The beginning of the Swift names of types that are not nested.
        var prefix = ""
        let isForeign: Bool
    }

    private mutating func add(_ message: DescriptorProto, to place: Place) {
        let name = message.name ?? ""
        let entry = Entry(
            swiftName: swiftName(name, suffix: "Message", in: place), message: message, isForeign: place.isForeign)
        entries["\(place.scope).\(name)"] = entry
        let own = Place(scope: "\(place.scope).\(name)", outer: "\(entry.swiftName).", isForeign: place.isForeign)
        for nested in message.nestedType { add(nested, to: own) }
        for nested in message.enumType { add(nested, to: own) }
    }

    private mutating func add(_ enumType: EnumDescriptorProto, to place: Place) {
        let name = enumType.name ?? ""
        entries["\(place.scope).\(name)"] = Entry(
            swiftName: swiftName(name, suffix: "Enum", in: place), message: nil, isForeign: place.isForeign)
    }

    private func swiftName(_ name: String, suffix: String, in place: Place) -> String {
        place.outer + SwiftNames.type(place.prefix + name, suffix: suffix)
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
