import Protobuf

/// Prints a message: its properties, oneofs and nested types, and its decoding and encoding.
struct MessagePrinter {
    private struct Oneof {
        let name: String
        let type: String
        let comment: [String]
        let fields: [Field]
    }

    /// The source of one property: a field, or a oneof at the position of its first field.
    private enum Member {
        case field(Field)
        case oneof(Oneof)
    }

    private let message: DescriptorProto
    private let fullName: String
    private let swiftName: String
    private let path: [Int32]
    private let file: SourceFile
    private let access: String
    private var fields: [Field] = []
    private var members: [Member] = []

    init(_ message: DescriptorProto, scope: String, path: [Int32], file: SourceFile) throws(PluginError) {
        self.message = message
        self.path = path
        self.file = file
        access = file.access
        fullName = "\(scope).\(message.name ?? "")"
        swiftName = String(try file.types[fullName].swiftName.split(separator: ".").last ?? "")
        for (index, descriptor) in message.field.enumerated() {
            fields.append(try Field(descriptor, at: index, of: fullName, in: file))
        }
        fields.sort { $0.number < $1.number }
        members = makeMembers()
    }

    private func makeMembers() -> [Member] {
        var seen: Set<Int> = []
        var members: [Member] = []
        for field in fields {
            guard case .oneof(let index) = field.shape else {
                members.append(.field(field))
                continue
            }
            if !seen.insert(index).inserted { continue }
            let name = message.oneofDecl[index].name ?? ""
            let cases = fields.filter { if case .oneof(index) = $0.shape { true } else { false } }
            members.append(
                .oneof(
                    Oneof(
                        name: SwiftNames.member(name), type: SwiftNames.oneofType(name),
                        comment: file.comment(at: path + [8, Int32(index)]), fields: cases)))
        }
        return members
    }

    func print(to code: inout CodeWriter) throws(PluginError) {
        code.lines(file.comment(at: path))
        try code.block("\(access)struct \(swiftName): Message") { code throws(PluginError) in
            code.line("\(access)static var fullName: String { \"\(fullName.dropFirst())\" }")
            code.line()
            try printNestedTypes(to: &code)
            try printProperties(to: &code)
            try printInitializers(to: &code)
            try printMerge(to: &code)
            try printEncodedSize(to: &code)
            try printWrite(to: &code)
        }
    }

    private func printNestedTypes(to code: inout CodeWriter) throws(PluginError) {
        for (index, enumType) in message.enumType.enumerated() {
            try EnumPrinter(enumType, scope: fullName, path: path + [4, Int32(index)], file: file).print(to: &code)
            code.line()
        }
        for (index, nested) in message.nestedType.enumerated() where nested.options?.mapEntry != true {
            try MessagePrinter(nested, scope: fullName, path: path + [3, Int32(index)], file: file).print(to: &code)
            code.line()
        }
        for case .oneof(let oneof) in members {
            let isRecursive = oneof.fields.contains { $0.isRecursive }
            code.lines(oneof.comment)
            let header = "\(access)\(isRecursive ? "indirect " : "")enum \(oneof.type): Sendable, Equatable"
            try code.block(header) { code throws(PluginError) in
                for field in oneof.fields {
                    code.lines(comment(field))
                    code.line("case \(field.name)(\(field.valueType))")
                }
            }
            code.line()
        }
    }

    private func comment(_ field: Field) -> [String] {
        file.comment(at: path + [2, field.index])
    }

    // MARK: Properties

    private func printProperties(to code: inout CodeWriter) throws(PluginError) {
        for member in members {
            switch member {
            case .oneof(let oneof):
                code.line("\(access)var \(oneof.name): \(oneof.type)?")
            case .field(let field) where field.isRecursive:
                let stored = "stored_\(field.number)"
                code.lines(comment(field))
                try code.block("\(access)var \(field.name): \(field.valueType)?") { code throws(PluginError) in
                    code.line("get { \(stored)?.value }")
                    code.line("set { \(stored) = newValue.map { Indirect($0) } }")
                }
                code.line("private var \(stored): Indirect<\(field.valueType)>?")
            case .field(let field):
                let (type, initial) = field.declaration
                code.lines(comment(field))
                code.line("\(access)var \(field.name): \(type)\(initial == "nil" ? "" : " = \(initial)")")
            }
        }
        code.line("\(access)var unknownFields = UnknownFields()")
        code.line()
    }

    private func printInitializers(to code: inout CodeWriter) throws(PluginError) {
        code.line("\(access)init() {}")
        code.line()
        if members.isEmpty { return }
        var parameters: [(name: String, declaration: String)] = []
        for member in members {
            switch member {
            case .field(let field):
                parameters.append((field.name, "\(field.declaration.type) = \(field.declaration.initial)"))
            case .oneof(let oneof): parameters.append((oneof.name, "\(oneof.type)? = nil"))
            }
        }
        code.line("\(access)init(")
        for (index, parameter) in parameters.enumerated() {
            let comma = index == parameters.count - 1 ? "" : ","
            code.line("    \(parameter.name): \(parameter.declaration)\(comma)")
        }
        try code.block(")") { code throws(PluginError) in
            for parameter in parameters { code.line("self.\(parameter.name) = \(parameter.name)") }
        }
        code.line()
    }

    // MARK: Decoding

    private func printMerge(to code: inout CodeWriter) throws(PluginError) {
        let header = "\(access)mutating func merge(from reader: inout ProtobufReader) throws(DecodingError)"
        try code.block(header) { code throws(PluginError) in
            try code.block("while let tag = try reader.nextTag()") { code throws(PluginError) in
                let unknown = "try reader.readUnknown(tag, into: &self.unknownFields)"
                if members.isEmpty {
                    code.line(unknown)
                    return
                }
                code.line("switch tag {")
                for member in members {
                    switch member {
                    case .field(let field): printMerge(field, to: &code)
                    case .oneof(let oneof):
                        for field in oneof.fields { printMerge(field, of: oneof, to: &code) }
                    }
                }
                code.line("default: \(unknown)")
                code.line("}")
            }
        }
        code.line()
    }

    private func printMerge(_ field: Field, to code: inout CodeWriter) {
        let property = "&self.\(field.name), from: &reader)"
        let delimited = "&self.\(field.name), tag: tag, from: &reader)"
        switch field.shape {
        case .implicit, .optional, .oneof: code.line("case \(field.tag): try \(field.codec).merge(into: \(property)")
        case .repeated, .packed:
            if field.isPackable {
                code.line("case \(field.elementTag): try \(field.codec).append(to: \(property)")
                code.line("case \(field.packedTag): try \(field.codec).append(packed: \(property)")
            } else {
                code.line("case \(field.tag): try \(field.codec).append(to: \(delimited)")
            }
        case .map: code.line("case \(field.tag): try \(field.codec).insert(into: \(delimited)")
        }
    }

    private func printMerge(_ field: Field, of oneof: Oneof, to code: inout CodeWriter) {
        guard field.isMessage else {
            code.line("case \(field.tag): self.\(oneof.name) = .\(field.name)(try \(field.codec).read(from: &reader))")
            return
        }
        code.line("case \(field.tag):")
        code.line("    var value = \(field.valueType)()")
        code.line("    if case .\(field.name)(let current)? = self.\(oneof.name) { value = current }")
        code.line("    try \(field.codec).merge(into: &value, from: &reader)")
        code.line("    self.\(oneof.name) = .\(field.name)(value)")
    }

    // MARK: Encoding

    private func printEncodedSize(to code: inout CodeWriter) throws(PluginError) {
        try code.block("\(access)var encodedSize: Int") { code throws(PluginError) in
            if members.isEmpty {
                code.line("self.unknownFields.count")
                return
            }
            code.line("var size = self.unknownFields.count")
            for member in members {
                switch member {
                case .field(let field):
                    let value = "\(field.argumentLabel)self.\(field.name)"
                    code.line("size += \(field.codec).size(\(value), tag: \(field.tag))")
                case .oneof(let oneof):
                    code.line("switch self.\(oneof.name) {")
                    for field in oneof.fields {
                        let size = "\(field.codec).size(present: value, tag: \(field.tag))"
                        code.line("case .\(field.name)(let value)?: size += \(size)")
                    }
                    code.line("case nil: break")
                    code.line("}")
                }
            }
            code.line("return size")
        }
        code.line()
    }

    private func printWrite(to code: inout CodeWriter) throws(PluginError) {
        try code.block("\(access)func write(to writer: inout ProtobufWriter)") { code throws(PluginError) in
            code.line("writer.unknown(self.unknownFields)")
            for member in members.reversed() {
                switch member {
                case .field(let field):
                    let value = "\(field.argumentLabel)self.\(field.name)"
                    code.line("\(field.codec).write(\(value), tag: \(field.tag), to: &writer)")
                case .oneof(let oneof):
                    code.line("switch self.\(oneof.name) {")
                    for field in oneof.fields {
                        let write = "\(field.codec).write(present: value, tag: \(field.tag), to: &writer)"
                        code.line("case .\(field.name)(let value)?: \(write)")
                    }
                    code.line("case nil: break")
                    code.line("}")
                }
            }
        }
    }
}
