import Protobuf

/// A `.proto` file with the other data that its generated code depends on.
struct SourceFile {
    let descriptor: FileDescriptorProto
    let types: TypeIndex
    let options: PluginOptions
    private let comments: [[Int32]: String]

    init(_ descriptor: FileDescriptorProto, types: TypeIndex, options: PluginOptions) {
        self.descriptor = descriptor
        self.types = types
        self.options = options
        var comments: [[Int32]: String] = [:]
        if !options.uncommented.contains(descriptor.package ?? "") {
            for location in descriptor.sourceCodeInfo?.location ?? [] {
                comments[location.path] = location.leadingComments ?? location.trailingComments
            }
        }
        self.comments = comments
    }

    var name: String { descriptor.name ?? "" }
    var package: String { descriptor.package ?? "" }
    var isProto3: Bool { descriptor.syntax == "proto3" }
    var access: String { options.visibility == "internal" ? "" : "\(options.visibility) " }

    /// `grpc/health/v1/health.proto` → `grpc_health_v1_health.pb.swift`: the files of a module need distinct names.
    var outputName: String { stem.replacing("/", with: "_") + ".pb.swift" }

    /// The name of the embedded descriptor, e.g. `grpcHealthV1HealthProto`.
    var descriptorName: String { SwiftNames.member(stem.replacing("/", with: "_") + "_proto") }

    private var stem: String { name.hasSuffix(".proto") ? String(name.dropLast(6)) : name }

    /// The modules that the file's declarations need, in order.
    var imports: [String] {
        var modules = options.imports
        if !descriptor.service.isEmpty { modules += options.serviceImports }
        if hasForeignTypes { modules += options.typeImports }
        return modules.sorted()
    }

    /// Whether a field or a method has a type of another module.
    private var hasForeignTypes: Bool {
        let methods = descriptor.service.flatMap(\.method).flatMap { [$0.inputType, $0.outputType] }
        let names = methods.compactMap { $0 } + descriptor.messageType.flatMap(typeNames)
        return names.contains { (try? types[$0].isForeign) == true }
    }

    private func typeNames(of message: DescriptorProto) -> [String] {
        message.field.compactMap(\.typeName) + message.nestedType.flatMap(typeNames)
    }

    func fullName(_ name: String) -> String { package.isEmpty ? name : "\(package).\(name)" }

    /// The Swift names of the messages that the file declares, including nested ones.
    var messageNames: [String] {
        let scope = package.isEmpty ? "" : ".\(package)"
        return descriptor.messageType.flatMap { names(of: $0, scope: scope) }
    }

    private func names(of message: DescriptorProto, scope: String) -> [String] {
        if message.options?.mapEntry == true { return [] }
        let fullName = "\(scope).\(message.name ?? "")"
        let own = (try? types[fullName].swiftName).map { [$0] } ?? []
        return own + message.nestedType.flatMap { names(of: $0, scope: fullName) }
    }

    /// Returns the doc comment of the declaration at `path`, as lines with slashes.
    func comment(at path: [Int32]) -> [String] {
        guard let comment = comments[path] else { return [] }
        var lines = comment.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            var text = Substring(line)
            while text.last?.isWhitespace == true { text.removeLast() }
            return text.isEmpty ? "///" : "///\(text.hasPrefix(" ") ? "" : " ")\(text)"
        }
        while lines.last == "///" { lines.removeLast() }
        return lines
    }
}
