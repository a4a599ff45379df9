import Protobuf

/// Prints the comments of `.proto` files as data, for the description of an API.
struct CommentPrinter {
    private let sources: [SourceFile]

    init(_ sources: [SourceFile]) {
        self.sources = sources
    }

    func print(access: String, to code: inout CodeWriter) {
        code.line(
            "/// The comments of services, methods, messages, fields, enums and their values: on each line the full name, a tab and"
        )
        code.line("/// the text.")
        code.line("\(access)static let comments = #\"\"\"")
        for line in sources.flatMap(lines) { code.line("    \(line)") }
        code.line("    \"\"\"#")
    }

    private func lines(_ source: SourceFile) -> [String] {
        let scope = source.package.isEmpty ? "" : "\(source.package)."
        let file = source.descriptor
        return file.service.enumerated().flatMap { index, service in
            let path: [Int32] = [6, Int32(index)]
            let name = scope + (service.name ?? "")
            return line(name, path, source)
                + service.method.enumerated().flatMap { index, method in
                    line("\(name).\(method.name ?? "")", path + [2, Int32(index)], source)
                }
        }
            + file.messageType.enumerated().flatMap { index, message in
                lines(message, scope + (message.name ?? ""), [4, Int32(index)], source)
            }
            + file.enumType.enumerated().flatMap { index, enumType in
                lines(enumType, scope + (enumType.name ?? ""), [5, Int32(index)], source)
            }
    }

    private func lines(_ message: DescriptorProto, _ name: String, _ path: [Int32], _ source: SourceFile) -> [String] {
        line(name, path, source)
            + message.field.enumerated().flatMap { index, field in
                line("\(name).\(field.name ?? "")", path + [2, Int32(index)], source)
            }
            + message.nestedType.enumerated().flatMap { index, nested in
                lines(nested, "\(name).\(nested.name ?? "")", path + [3, Int32(index)], source)
            }
            + message.enumType.enumerated().flatMap { index, enumType in
                lines(enumType, "\(name).\(enumType.name ?? "")", path + [4, Int32(index)], source)
            }
    }

    private func lines(_ enumType: EnumDescriptorProto, _ name: String, _ path: [Int32], _ source: SourceFile)
        -> [String]
    {
        line(name, path, source)
            + enumType.value.enumerated().flatMap { index, value in
                line("\(name).\(value.name ?? "")", path + [2, Int32(index)], source)
            }
    }

    private func line(_ name: String, _ path: [Int32], _ source: SourceFile) -> [String] {
        let words = source.comment(at: path).map { $0.dropFirst(3).drop { $0 == " " } }.filter { !$0.isEmpty }
        return words.isEmpty ? [] : ["\(name)\t\(words.joined(separator: " "))"]
    }
}
