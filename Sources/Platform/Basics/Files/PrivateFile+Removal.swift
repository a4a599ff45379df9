import Glibc

extension PrivateFile {
    /// Removes a file, a link, or a folder with everything in it.
    package static func remove(_ path: String) throws(Failure) {
        if unlink(path) == 0 { return }
        // Linux answers so for a folder, and POSIX has EPERM for it.
        guard errno == EISDIR || errno == EPERM else { throw .last(path) }
        let names: [String]
        do throws(FolderListing.Failure) {
            names = try FolderListing.names(in: path)
        } catch {
            throw Failure(error.code, at: path)
        }
        for name in names { try remove("\(path)/\(name)") }
        guard rmdir(path) == 0 else { throw .last(path) }
    }

    /// Returns the number of bytes of a file.
    package static func size(of path: String) throws(Failure) -> Int64 {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .last(path) }
        return Int64(status.st_size)
    }
}
