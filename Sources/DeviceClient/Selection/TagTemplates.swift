package import Basics

/// Tags whose values are derived from each file's path, time and size.
package struct TagTemplates: Sendable, Hashable {
    /// The placeholders, for help and messages.
    package static let placeholders =
        "{name}, {stem}, {ext}, {path}, {dir}, {dir1}, {dir2}, {dir-1}, {date}, {time}, {size}"

    private var templates: [String: TextTemplate] = [:]

    package init() {}

    /// Adds a tag. Tags with the same value for every file are templates without placeholders.
    ///
    /// - Throws: for an unknown placeholder, or an invalid template.
    package mutating func set(_ key: String, _ template: TextTemplate) throws(TextTemplate.Problem) {
        for name in template.placeholders where !Self.isKnown(name) {
            throw TextTemplate.Problem(
                predicate: "has the unknown placeholder {\(name)}: known are \(Self.placeholders)")
        }
        templates[key] = template
    }

    /// Returns tags as a text for people, in the order of their keys.
    package static func text(of tags: [String: String]) -> String {
        tags.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ", ")
    }

    package var isEmpty: Bool { templates.isEmpty }

    package var keys: [String] { templates.keys.sorted() }

    /// Returns the tags of a file. A tag is omitted if the file has no value for one of its placeholders, e.g. no directory.
    ///
    /// - Parameters:
    ///   - path: relative to the searched directory.
    ///   - modified: nanoseconds since 1970.
    package func tags(of path: String, size: Int64, modified: Int64) -> [String: String] {
        let parts = path.split(byte: "/", omittingEmpty: true)
        return templates.compactMapValues { template in
            template.text { name in Self.value(name, parts, size: size, modified: modified) }
        }.filter { !$0.value.isEmpty }
    }

    private static let plain: Set = ["name", "stem", "ext", "path", "dir", "date", "time", "size"]

    private static func isKnown(_ name: String) -> Bool { plain.contains(name) || directory(name) != nil }

    /// Returns the number in `dir2` or `dir-1`, which is never 0.
    private static func directory(_ name: String) -> Int? {
        guard name.hasPrefix("dir"), let number = Int8(name.dropFirst(3)), number != 0, !name.contains("+") else {
            return nil
        }
        return Int(number)
    }

    private static func value(_ name: String, _ parts: [String], size: Int64, modified: Int64) -> String? {
        guard let file = parts.last else { return nil }
        let directories = parts.dropLast()
        let (stem, suffix) = Path.extended(file)
        let time = UnixTime(seconds: UnixTime(microseconds: modified / 1000).seconds)
        switch name {
        case "name": return file
        case "stem": return stem
        case "ext": return suffix.isEmpty ? nil : String(suffix.dropFirst())
        case "path": return parts.joined(separator: "/")
        case "dir": return directories.isEmpty ? nil : directories.joined(separator: "/")
        case "date": return CivilTime(time).date()
        case "time": return RFC3339.text(time)
        case "size": return "\(size)"
        default:
            guard let number = directory(name) else { return nil }
            let index = number > 0 ? number - 1 : directories.count + number
            return directories.indices.contains(index) ? directories[index] : nil
        }
    }
}
