import Basics
import Protobuf

/// Prints all declarations of one `.proto` file.
struct FilePrinter {
    let file: SourceFile

    func services() throws(PluginError) -> [ServicePrinter] {
        var services: [ServicePrinter] = []
        for (index, service) in file.descriptor.service.enumerated() {
            services.append(try ServicePrinter(service: service, path: [6, Int32(index)], file: file))
        }
        return services
    }

    func print(to code: inout CodeWriter) throws(PluginError) {
        for service in try services() {
            try service.print(to: &code)
            code.line()
        }
        let scope = file.package.isEmpty ? "" : ".\(file.package)"
        for (index, enumType) in file.descriptor.enumType.enumerated() {
            try EnumPrinter(enumType, scope: scope, path: [5, Int32(index)], file: file).print(to: &code)
            code.line()
        }
        for (index, message) in file.descriptor.messageType.enumerated() {
            try MessagePrinter(message, scope: scope, path: [4, Int32(index)], file: file).print(to: &code)
            code.line()
        }
        try embedDescriptor(to: &code)
    }

    private func embedDescriptor(to code: inout CodeWriter) throws(PluginError) {
        var descriptor = file.descriptor
        descriptor.sourceCodeInfo = nil
        let base64 = Base64Text.lines(descriptor.encoded(canonical: true), width: 100)
        try code.block("extension FileDescriptor") { code throws(PluginError) in
            code.line("/// `\(file.name)`")
            code.line("\(file.access)static let \(file.descriptorName) = FileDescriptor(")
            code.line("    name: \"\(file.name)\",")
            code.line("    base64: \"\"\"")
            for line in base64.dropLast() { code.line("        \(line)\\") }
            code.lines(base64.suffix(1).map { "        \($0)" })
            code.line("        \"\"\")")
        }
    }
}

/// The base64 of bytes as lines that fit into a Swift string literal.
enum Base64Text {
    static func lines(_ bytes: [UInt8], width: Int) -> [Substring] {
        let text = Base64.encode(bytes)
        return stride(from: 0, to: text.utf8.count, by: width).map { start in
            let from = text.utf8.index(text.startIndex, offsetBy: start)
            let to = text.utf8.index(from, offsetBy: width, limitedBy: text.endIndex) ?? text.endIndex
            return text[from..<to]
        }
    }
}
