/// The options of the plugin, `--gateway_opt=NAME=VALUE`; each may be given more than once.
///
/// | option | meaning | default |
/// |---|---|---|
/// | `Import=MODULE` | a module that every generated file imports, once for each | none |
/// | `ServiceImport=MODULE` | a module that files with services import, once for each | none |
/// | `TypeImport=MODULE` | the module of types of other files than the requested ones | none |
/// | `Visibility=LEVEL` | `public`, `package` or `internal` | `public` |
/// | `Uncommented=PACKAGE` | a package whose comments do not become doc comments | none |
/// | `Prefix=PACKAGE:TEXT` | put before the Swift names of that package's types, against name clashes | none |
/// | `Repeatable=FILE` | write only this file: the paths of the unary methods that a balancer may call again | no such file |
/// | `Kept=PATH` | a method for that file whose response the gateway keeps, once for each | none |
/// | `Index=TYPE` | write `TYPE.swift`, an enum that lists all embedded descriptors and all messages | no such file |
struct PluginOptions {
    private(set) var imports: [String] = []
    private(set) var serviceImports: [String] = []
    private(set) var typeImports: [String] = []
    private(set) var visibility = "public"
    private(set) var uncommented: Set<String> = []
    private(set) var prefixes: [String: String] = [:]
    private(set) var index: String?
    private(set) var repeatable: String?
    private(set) var kept: [String] = []

    init(parameter: String) throws(PluginError) {
        for option in parameter.split(separator: ",") {
            let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw PluginError("option '\(option)' is not of the form NAME=VALUE") }
            try set(parts[0], to: parts[1])
        }
    }

    private mutating func set(_ name: String, to value: String) throws(PluginError) {
        switch name {
        case "Import": imports.append(value)
        case "ServiceImport": serviceImports.append(value)
        case "TypeImport": typeImports.append(value)
        case "Visibility" where ["public", "package", "internal"].contains(value): visibility = value
        case "Uncommented": uncommented.insert(value)
        case "Prefix" where value.contains(":"):
            let parts = value.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            prefixes[parts[0]] = parts[1]
        case "Index": index = value
        case "Repeatable": repeatable = value
        case "Kept": kept.append(value)
        default: throw PluginError("option '\(name)=\(value)' is unknown, or has no such value")
        }
    }
}
