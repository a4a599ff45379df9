import CommandLineInterface
import Proto

/// Finds the one object of an argument.
struct ObjectLookup: Sendable {
    let source: DownloadSource

    init(_ connection: ConnectionOptions, _ environment: CommandEnvironment) {
        // The listener for objects differs from the command's own.
        var options = connection
        options.server = nil
        source = DownloadSource(options, environment)
    }

    /// Finds the objects of arguments that change them, which no filter names by accident.
    ///
    /// - Parameters:
    ///   - arguments: file ids, ids of uploads, or names that one object has.
    ///   - inTrash: whether objects in the trash are meant.
    ///   - takesFilter: whether the command has the option --filter, which is named for an argument that looks like a filter.
    /// - Returns: the ids, in the order of the arguments.
    func ids(
        _ arguments: [String], inTrash: Bool = false, takesFilter: Bool = false
    ) async throws -> [String] {
        var ids: [String] = []
        for argument in arguments {
            let found = try await source.findNamed(argument, inTrash: inTrash)
            guard let only = found.first else {
                let isFilter = takesFilter && argument.contains { ":=<>".contains($0) }
                let advice = isFilter ? "; for a filter, use --filter '\(argument)'" : ""
                throw ClientFailure(
                    "no object\(inTrash ? " in the trash" : "") has the name or the id \(argument)\(advice)")
            }
            guard found.count == 1 else {
                throw ClientFailure(
                    "\(found.count) objects have the name \(argument): name one by its file id (\(Self.ids(found)))")
            }
            ids.append(only.id)
        }
        return ids
    }

    /// - Parameter argument: a file id, the id of an upload, a name, or a filter that one object matches.
    /// - Throws: if none or several match.
    func one(_ argument: String) async throws -> DownloadSource.Wanted {
        try Self.only(try await source.find(argument, needsDetails: false), of: argument)
    }

    /// Returns the only object that was found for an argument.
    ///
    /// - Throws: if there are several.
    static func only(
        _ found: [DownloadSource.Wanted], of argument: String
    ) throws(ClientFailure) -> DownloadSource.Wanted {
        guard found.count == 1 else {
            throw ClientFailure("\(found.count) objects match \(argument): name one by its file id (\(ids(found)))")
        }
        return found[0]
    }

    /// Returns the first ids as a list for a message.
    private static func ids(_ found: [DownloadSource.Wanted]) -> String {
        (found.prefix(5).map(\.id) + (found.count > 5 ? ["…"] : [])).joined(separator: ", ")
    }
}
