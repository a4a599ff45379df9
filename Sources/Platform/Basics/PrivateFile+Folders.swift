package import Foundation

extension PrivateFile {
    /// Makes the folder `path`, and those above it that are missing; existing ones stay unchanged.
    package static func makeFolders(_ path: String, mode: mode_t = 0o700) throws(Failure) {
        // A relative name without a folder is in the current one, which exists.
        if path.isEmpty { return }
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
        if mkdir(path, mode) == 0 { return }
        let parent = Path.folder(of: path)
        guard errno == ENOENT, parent != path else { throw .last(path) }
        try makeFolders(parent, mode: mode)
        // Another process may have made it meanwhile.
        guard mkdir(path, mode) == 0 || errno == EEXIST else { throw .last(path) }
    }
}
