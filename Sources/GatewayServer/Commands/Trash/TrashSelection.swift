import CommandLineInterface

/// The objects of a command: named ones, or all that a filter matches.
struct TrashSelection: Sendable {
    /// The filter; `nil` = the objects are named.
    let filter: String?

    /// - Throws: if both or neither are given, or a dry run is wanted of named objects.
    init(objects: [String], filter: String?, isDryRun: Bool) throws(ClientFailure) {
        guard objects.isEmpty != (filter == nil) else {
            throw ClientFailure(
                filter == nil
                    ? "OBJECT or --filter is missing" : "OBJECT and --filter must not be given together",
                exitCode: .usage)
        }
        guard filter != nil || !isDryRun else { throw ClientFailure("--dry-run needs --filter", exitCode: .usage) }
        self.filter = filter
    }
}
