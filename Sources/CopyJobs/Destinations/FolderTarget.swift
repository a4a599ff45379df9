/// A folder of this machine, and everything below it, as a destination. Requests use `file:///path`.
package struct FolderTarget: DestinationTarget {
    /// The absolute path without a slash at its end; has to exist.
    package let root: String

    package init(root: String) {
        self.root = root
    }

    var name: String { CopyPlace.fileScheme + root }
    var place: CopyPlace { CopyPlace(endpoint: name, bucket: "", region: "") }

    func writer(for place: CopyPlace, _ environment: CopyEnvironment) -> (any DestinationWriter)? {
        folders(to: place).map { FolderWriter(root: root, folders: $0) }
    }

    /// Returns the names of the folders from the root to the destination.
    private func folders(to place: CopyPlace) -> [String]? {
        guard place.endpoint.hasPrefix(CopyPlace.fileScheme) else { return nil }
        var path = place.endpoint.dropFirst(CopyPlace.fileScheme.count)
        if path.count > 1, path.last == "/" { path.removeLast() }
        guard path.hasPrefix(root) else { return nil }
        let rest = path.dropFirst(root.count)
        guard !rest.isEmpty else { return [] }
        guard rest.first == "/" else { return nil }
        let folders = rest.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        return folders.allSatisfy(FolderWriter.isName) ? folders : nil
    }
}

extension CopyTarget {
    /// - Parameter organizations: the names of the organizations that may copy there; `nil` = all.
    package static func folder(_ target: FolderTarget, organizations: [String]? = nil) -> CopyTarget {
        CopyTarget(target, organizations: organizations)
    }
}
