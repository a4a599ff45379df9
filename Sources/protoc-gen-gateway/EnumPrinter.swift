import Protobuf

/// Prints an open enum: a case for each number, one for all other numbers, and constants for aliases.
struct EnumPrinter {
    private struct Value {
        let name: String
        let number: Int32
        let comment: [String]
    }

    private let swiftName: String
    private let comment: [String]
    private let access: String
    private var cases: [Value] = []
    private var aliases: [(alias: Value, original: String)] = []

    init(_ enumType: EnumDescriptorProto, scope: String, path: [Int32], file: SourceFile) throws(PluginError) {
        let name = enumType.name ?? ""
        let qualified = try file.types["\(scope).\(name)"].swiftName
        swiftName = String(qualified.split(separator: ".").last ?? "")
        comment = file.comment(at: path)
        access = file.access
        for (index, descriptor) in enumType.value.enumerated() {
            let value = Value(
                name: SwiftNames.enumCase(descriptor.name ?? "", of: name), number: descriptor.number ?? 0,
                comment: file.comment(at: path + [2, Int32(index)]))
            let original = cases.first { $0.number == value.number }
            // Aliases that differ only in upper and lower case have the same name in Swift.
            let namesake = (cases + aliases.map(\.alias)).first { $0.name == value.name }
            if let namesake, namesake.number != value.number {
                throw PluginError("\(file.name): two values of \(name) are both .\(value.name) in Swift")
            }
            switch (original, namesake) {
            case (nil, _): cases.append(value)
            case (let original?, nil): aliases.append((value, original.name))
            case (_?, _?): continue
            }
        }
    }

    func print(to code: inout CodeWriter) throws(PluginError) {
        code.lines(comment)
        try code.block("\(access)enum \(swiftName): ProtobufEnum") { code throws(PluginError) in
            for value in cases {
                code.lines(value.comment)
                code.line("case \(value.name)")
            }
            code.line("/// A number that has no name here.")
            code.line("case unrecognized(Int32)")
            code.line()
            for (alias, original) in aliases {
                code.lines(alias.comment)
                code.line("\(access)static var \(alias.name): Self { .\(original) }")
            }
            code.line("/// Every value that has a name.")
            let all = cases.map { ".\($0.name)" }.joined(separator: ", ")
            code.line("\(access)static var allCases: [Self] { [\(all)] }")
            code.line()
            try code.block("\(access)init(rawValue: Int32)") { code throws(PluginError) in
                code.line("switch rawValue {")
                for value in cases { code.line("case \(value.number): self = .\(value.name)") }
                code.line("default: self = .unrecognized(rawValue)")
                code.line("}")
            }
            code.line()
            try code.block("\(access)var rawValue: Int32") { code throws(PluginError) in
                code.line("switch self {")
                for value in cases { code.line("case .\(value.name): \(value.number)") }
                code.line("case .unrecognized(let number): number")
                code.line("}")
            }
        }
    }
}
