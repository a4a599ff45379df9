import Basics
import CommandLineInterface
import DeviceClient

/// An argument `KEY=TEMPLATE`.
struct TagTemplateArgument: ArgumentValue, Hashable, Sendable {
    let key: String
    let template: TextTemplate

    init(argument: String) throws(ArgumentProblem) {
        let tag = try TagArgument(argument: argument)
        key = tag.key
        var check = TagTemplates()
        do throws(TextTemplate.Problem) {
            template = try TextTemplate(tag.value)
            try check.set(tag.key, template)
        } catch {
            throw ArgumentProblem(error.predicate)
        }
    }
}

/// An argument with a pattern of file names.
struct PatternArgument: ArgumentValue, Hashable, Sendable {
    let pattern: FilePattern

    init(argument: String) throws(ArgumentProblem) {
        guard let pattern = FilePattern(argument) else {
            throw ArgumentProblem("must be a pattern such as *.mcap or runs/**/*.log, not '\(argument)'")
        }
        self.pattern = pattern
    }
}

/// The options for selecting the files of an upload, and for the rate.
struct TransferOptions: Sendable {
    var include: [PatternArgument] = []
    var exclude: [PatternArgument] = []
    var tagTemplates: [TagTemplateArgument] = []
    var limit: ByteQuantityArgument?
    var fileCount: Int64 = 4
    var isDryRun = false
    var isQuiet = false
    var sendsDeleted = false
    var skipsExisting = false
    var deletesDelivered = false

    static var parameters: [Parameter<Self>] {
        [
            .repeated(
                "--include", "PATTERN", \.include,
                "Upload only those files of directories that match: *.mcap, or a path with a slash such as runs/**/*.log"
            ),
            .repeated("--exclude", "PATTERN", \.exclude, "Leave out those files of directories that match"),
            .repeated(
                "--tag-template", "KEY=TEMPLATE", \.tagTemplates,
                """
                A tag made of each file's path, time or size: \(TagTemplates.placeholders); a file that has no such \
                part does not get the tag
                """),
            .option("--files", "N", \.fileCount, "Upload this number of files at once: 1 to 16 (default: 4)"),
            .option(
                "--limit-rate", "BYTES", \.limit,
                "Send at most this number of bytes a second, for example 500KB or 2MiB"),
            .flag("--dry-run", \.isDryRun, "Print what would be uploaded, and upload nothing"),
            .flag("--quiet", \.isQuiet, "Print errors only, each with its file"),
            .flag("--again", \.sendsDeleted, "Upload also files that were deleted at the gateway"),
            .flag(
                "--skip-existing", \.skipsExisting, "Leave out files that the gateway has; this is always done"),
            .flag(
                "--delete-after", \.deletesDelivered,
                "Delete each file after the gateway verified it, unless it changed meanwhile"),
        ]
    }

    var filter: FileFilter { FileFilter(include: include.map(\.pattern), exclude: exclude.map(\.pattern)) }

    /// - Throws: if a key is given twice, here or in `tags`.
    func templates(beside tags: [String: String]) throws(ClientFailure) -> TagTemplates {
        var templates = TagTemplates()
        for tag in tagTemplates {
            guard tags[tag.key] == nil, !templates.keys.contains(tag.key) else {
                throw ClientFailure("the tag \(tag.key) is given twice", exitCode: .usage)
            }
            do {
                try templates.set(tag.key, tag.template)
            } catch {
                throw ClientFailure("the tag \(tag.key) is not valid: it \(error.predicate)", exitCode: .usage)
            }
        }
        return templates
    }
}
