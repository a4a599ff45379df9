/// The halves of a path. (Foundation's traps on a name of one character.)
package enum Path {
    /// What the last name stands in: `/a` for `/a/b`, empty for a name alone.
    package static func folder(of path: String) -> String {
        let path = trimmed(path[...])
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return String(trimmed(path[...slash]))
    }

    /// Another name in the same folder.
    package static func sibling(_ name: String, of path: String) -> String {
        let folder = folder(of: path)
        return folder.isEmpty || folder == "/" ? folder + name : "\(folder)/\(name)"
    }

    /// The last name: `b` for `/a/b`.
    package static func name(of path: String) -> String {
        let path = trimmed(path[...])
        return String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...])
    }

    /// Without slashes at its end, but for the root's.
    private static func trimmed(_ path: Substring) -> Substring {
        var path = path
        while path.last == "/", path.count > 1 { path.removeLast() }
        return path
    }
}
