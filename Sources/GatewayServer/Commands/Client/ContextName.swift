import Basics
import CommandLineInterface
import DeviceCommands
import Glibc

/// The name of a context: a gateway and a user, of several.
struct ContextName: ArgumentValue, Hashable, Sendable {
    /// The context that always exists.
    static let standard = ContextName(valid: "default")
    /// The environment variable with the context of one command, which overrides the selected one.
    static let variable = "DATA_GATEWAY_CONTEXT"
    private static let longest = 64

    let text: String

    private init(valid text: String) { self.text = text }

    init(argument: String) throws(ArgumentProblem) {
        let isValid =
            !argument.isEmpty && argument.utf8.count <= Self.longest && argument.first != "." && argument.first != "-"
            && argument.utf8.allSatisfy { $0.isASCIIAlphanumeric || "._-".utf8.contains($0) }
        guard isValid else {
            throw ArgumentProblem(
                "must have 1 to \(Self.longest) letters, digits, hyphens, dots or underscores, not '\(argument)'")
        }
        text = argument
    }
}

/// The contexts of this machine's user: a session file each, and the selected one.
struct Contexts: Sendable {
    private let folder: String
    private let environment: CommandEnvironment

    init(_ environment: CommandEnvironment) throws(ClientFailure) {
        self.environment = environment
        folder = try environment.configurationFolder("the session is", SessionFile.variable)
    }

    private var selectionPath: String { folder + "/context" }

    /// Returns the context of the variable, or the selected one, or the default.
    func current() throws(ClientFailure) -> ContextName {
        if let text = environment[ContextName.variable] {
            do throws(ArgumentProblem) {
                return try ContextName(argument: text)
            } catch {
                throw ClientFailure("\(ContextName.variable) \(error.message)", exitCode: .usage)
            }
        }
        let bytes: [UInt8]?
        do throws(PrivateFile.Failure) {
            bytes = try PrivateFile.read(selectionPath)
        } catch {
            throw ClientFailure("cannot read \(error.reason)")
        }
        guard let bytes else { return .standard }
        let text = String(decoding: bytes, as: UTF8.self).trimmingSpacesAndLineEnds()
        guard let name = try? ContextName(argument: text) else {
            throw ClientFailure(
                "\(selectionPath) does not contain the name of a context: run data-gateway context use NAME")
        }
        return name
    }

    /// Returns the context.
    ///
    /// - Throws: `ClientFailure` if it does not exist.
    func existing(_ name: ContextName) throws(ClientFailure) -> ContextName {
        if name == .standard { return name }
        let all = try all()
        guard all.contains(name) else {
            throw ClientFailure(
                "the context \(name.text) does not exist: there are \(all.map(\.text).joined(separator: ", "))")
        }
        return name
    }

    func file(of name: ContextName) -> SessionFile {
        SessionFile(path: name == .standard ? "\(folder)/session.json" : "\(folder)/contexts/\(name.text).json")
    }

    /// Returns the default context and those that were added, sorted by name.
    func all() throws(ClientFailure) -> [ContextName] {
        let names: [String]
        do {
            names = try FolderListing.names(in: folder + "/contexts")
        } catch {
            guard error.code == ENOENT else { throw ClientFailure("\(error)") }
            return [.standard]
        }
        let added = names.filter { $0.hasSuffix(".json") }.sorted()
            .compactMap { try? ContextName(argument: String($0.dropLast(5))) }
        return [.standard] + added
    }

    func select(_ name: ContextName) throws(ClientFailure) {
        do throws(PrivateFile.Failure) {
            try PrivateFile.makeFolders(folder)
            try PrivateFile.write(Array("\(name.text)\n".utf8), to: selectionPath)
        } catch {
            throw ClientFailure("cannot write \(selectionPath): \(error.reason)")
        }
    }
}
