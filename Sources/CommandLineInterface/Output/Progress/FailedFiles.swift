import Basics
package import JSON

/// The failed files of a batch. The errors of the first ones are repeated at its end.
package struct FailedFiles: Sendable {
    private static let mostNamed = 20

    /// The number of files that failed.
    package private(set) var count = 0
    /// The errors that are repeated.
    private var messages: [String] = []
    /// The number of files whose errors are not repeated.
    private var unnamed = 0

    package init() {}

    /// Counts files that failed for the same reason.
    ///
    /// - Parameter message: the error, which names the file, or what the files have in common.
    package mutating func add(_ message: String, files: Int = 1) {
        count += files
        if messages.count < Self.mostNamed { messages.append(message) } else { unnamed += files }
    }

    /// The errors that are repeated, for the event `summary`.
    package var json: JSONValue { .array(messages.map { .string($0) }) }

    /// The lines for the end of the batch; empty without failures.
    package var lines: [String] {
        guard count > 0 else { return [] }
        let heading = "\(TextLayout.count(count, "file")) failed:"
        return [heading] + messages.map { "  \(TextLayout.printable($0))" }
            + (unnamed > 0 ? ["  and \(unnamed) more"] : [])
    }
}
