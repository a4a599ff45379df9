/// A folder of this machine, and all below it. Requests name it `file:///path`.
package struct FolderTarget: DestinationTarget {
    /// Absolute, without a slash at its end; must be there.
    package let root: String

    package init(root: String) {
        self.root = root
    }

    var name: String { CopyPlace.fileScheme + root }

    func writer(for place: CopyPlace, _ environment: CopyEnvironment) -> (any DestinationWriter)? {
        folders(to: place).map { FolderWriter(root: root, folders: $0) }
    }

    /// The folders that lead from the root to the place.
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
    /// - Parameter organizations: whose jobs may copy there, by name; `nil` = everybody's.
    package static func folder(_ target: FolderTarget, organizations: [String]? = nil) -> CopyTarget {
        CopyTarget(target, organizations: organizations)
    }
}
