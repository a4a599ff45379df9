import Glibc

/// Lists a folder completely or throws: Foundation takes a failing `readdir` for the end of the folder, and callers would take the
/// files that are missing from the list for deleted.
package enum FolderListing {
    /// Why a folder could not be listed.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        package let path: String
        /// The `errno` of the call that failed.
        package let code: Int32

        package init(path: String, code: Int32) {
            self.path = path
            self.code = code
        }

        package var description: String { "cannot list \(path): \(String(cString: strerror(code)))" }
    }

    /// Returns the names in no order, without `.` and `..`.
    package static func names(in path: String) throws(Failure) -> [String] {
        guard let folder = opendir(path) else { throw Failure(path: path, code: errno) }
        defer { closedir(folder) }
        var names: [String] = []
        while true {
            // Only `errno` tells an error from the end.
            errno = 0
            guard let entry = readdir(folder) else {
                guard errno == 0 else { throw Failure(path: path, code: errno) }
                return names
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
    }
}
