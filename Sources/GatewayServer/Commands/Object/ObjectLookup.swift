import CommandLineInterface
import Proto

/// Finds the one object that a person means.
struct ObjectLookup: Sendable {
    let source: DownloadSource

    init(_ connection: ConnectionOptions, _ environment: CommandEnvironment) {
        // The objects' listener is another than the one that the command itself goes to.
        var options = connection
        options.server = nil
        source = DownloadSource(options, environment)
    }

    /// - Parameter argument: a file id, the id of an upload, a name, or a filter that one object matches.
    /// - Throws: where none matches, or several do.
    func one(_ argument: String) async throws -> DownloadSource.Wanted {
        let found = try await source.find(argument, needsDetails: false)
        guard found.count == 1 else {
            let ids = found.prefix(5).map(\.id).joined(separator: ", ")
            throw ClientFailure("\(found.count) objects match \(argument): name one by its file id (\(ids)…)")
        }
        return found[0]
    }
}
