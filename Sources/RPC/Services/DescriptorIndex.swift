import Protobuf

/// Finds the `.proto` file that declares a name, for reflection. Built once.
struct DescriptorIndex: Sendable {
    private var files: [String: FileDescriptor] = [:]
    private var imports: [String: [String]] = [:]
    /// The file's name by the full name of a declaration.
    private var declared: [String: String] = [:]

    init(_ descriptors: [FileDescriptor]) {
        for descriptor in descriptors {
            // Embedded by our plugin; a file that cannot be decoded would only be missing here.
            guard let file = try? FileDescriptorProto(decoding: descriptor.serialized) else { continue }
            files[descriptor.name] = descriptor
            imports[descriptor.name] = file.dependency
            let scope = file.package ?? ""
            for message in file.messageType { add(message, in: scope, of: descriptor.name) }
            for type in file.enumType { declare(type.name, in: scope, of: descriptor.name) }
            for service in file.service {
                let name = declare(service.name, in: scope, of: descriptor.name)
                for method in service.method { declare(method.name, in: name, of: descriptor.name) }
            }
        }
    }

    private mutating func add(_ message: DescriptorProto, in scope: String, of file: String) {
        let name = declare(message.name, in: scope, of: file)
        for field in message.field { declare(field.name, in: name, of: file) }
        for type in message.enumType { declare(type.name, in: name, of: file) }
        for nested in message.nestedType { add(nested, in: name, of: file) }
    }

    @discardableResult
    private mutating func declare(_ name: String?, in scope: String, of file: String) -> String {
        let full = [scope, name ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
        declared[full] = file
        return full
    }

    func isDeclared(_ symbol: String) -> Bool { declared[symbol] != nil }

    /// Returns the file that declares `symbol`, and all files that it imports.
    func files(declaring symbol: String) -> [[UInt8]]? {
        declared[symbol].flatMap { files(named: $0) }
    }

    /// Returns the serialized file and all files that it imports, each once, the file itself first.
    func files(named name: String) -> [[UInt8]]? {
        guard files[name] != nil else { return nil }
        var names = [name]
        var next = 0
        while next < names.count {
            for name in imports[names[next]] ?? [] where !names.contains(name) { names.append(name) }
            next += 1
        }
        return names.compactMap { files[$0]?.serialized }
    }
}
