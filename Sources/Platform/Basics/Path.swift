/// Splits paths into folder and name. (Foundation's functions trap on a name of one character.)
package enum Path {
    /// Returns the path without its last name: `/a` for `/a/b`, empty for a name alone.
    package static func folder(of path: String) -> String {
        let path = trimmed(path[...])
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return String(trimmed(path[...slash]))
    }

    /// Returns the path of another name in the same folder.
    package static func sibling(_ name: String, of path: String) -> String {
        let folder = folder(of: path)
        return folder.isEmpty || folder == "/" ? folder + name : "\(folder)/\(name)"
    }

    /// Returns the last name: `b` for `/a/b`.
    package static func name(of path: String) -> String {
        let path = trimmed(path[...])
        return String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...])
    }

    /// Removes slashes at the end, except the root's.
    private static func trimmed(_ path: Substring) -> Substring {
        var path = path
        while path.last == "/", path.count > 1 { path.removeLast() }
        return path
    }
}
