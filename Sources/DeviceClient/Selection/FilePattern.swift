import Basics
import Glibc

/// A pattern of file names: `*`, `?` and `[a-z]` as in a shell; `**` matches any number of directories.
///
/// A pattern without a slash is compared with a file's name, any other with its path below the searched directory.
package struct FilePattern: Sendable, Hashable {
    package let text: String
    private let names: [String]

    /// - Returns: `nil` for a text that no path can match.
    package init?(_ text: String) {
        let names = text.split(byte: "/", omittingEmpty: true)
        guard !names.isEmpty, !text.utf8.contains(0) else { return nil }
        self.text = text
        // A leading slash makes the pattern one for paths instead of names.
        self.names = text.hasPrefix("/") && names.count == 1 ? ["."] + names : names
    }

    /// Whether a shell would treat the text as a pattern.
    package static func isPattern(_ text: String) -> Bool { text.contains { "*?[".contains($0) } }

    /// - Parameter path: relative to the searched directory.
    package func matches(_ path: String) -> Bool {
        let parts = path.split(byte: "/", omittingEmpty: true)
        if names.count == 1, names[0] != "**" { return parts.last.map { Self.matches(names[0], $0) } ?? false }
        let wanted = names.first == "." ? names.dropFirst() : names[...]
        // The indices of names that the next component can match.
        var reached = skipping(wanted, [wanted.startIndex])
        for part in parts {
            var next: Set<Int> = []
            for index in reached where index < wanted.endIndex {
                if wanted[index] == "**" {
                    next.insert(index)
                } else if Self.matches(wanted[index], part) {
                    next.insert(index + 1)
                }
            }
            reached = skipping(wanted, next)
        }
        return reached.contains(wanted.endIndex)
    }

    /// Adds the positions after each `**`, which may match nothing.
    private func skipping(_ wanted: ArraySlice<String>, _ reached: Set<Int>) -> Set<Int> {
        var all = reached
        for index in reached.sorted() {
            var next = index
            while next < wanted.endIndex, wanted[next] == "**" {
                next += 1
                all.insert(next)
            }
        }
        return all
    }

    private static func matches(_ pattern: String, _ name: String) -> Bool { fnmatch(pattern, name, 0) == 0 }
}

/// The selection of files in a directory.
package struct FileFilter: Sendable, Hashable {
    /// Empty = every file.
    package var include: [FilePattern]
    /// Takes precedence over `include`.
    package var exclude: [FilePattern]

    package init(include: [FilePattern] = [], exclude: [FilePattern] = []) {
        self.include = include
        self.exclude = exclude
    }

    package func admits(_ path: String) -> Bool {
        (include.isEmpty || include.contains { $0.matches(path) }) && !excludes(path)
    }

    /// Whether a pattern leaves out the path, also that of a directory.
    package func excludes(_ path: String) -> Bool { exclude.contains { $0.matches(path) } }
}
