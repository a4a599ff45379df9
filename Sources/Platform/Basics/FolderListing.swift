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

        /// The code of a directory that is not listed because it is too deep.
        package static let tooDeep = E2BIG

        package var description: String {
            switch code {
            case EILSEQ: "\(path) has names that are not UTF-8: the files and folders with these names are left out"
            case Self.tooDeep: "\(path) is too deep below the directory: its contents are left out"
            default: "cannot list \(path): \(String(cString: strerror(code)))"
            }
        }
    }

    /// In no order, without `.` and `..`. In names that are not UTF-8, the replacement character stands for what is not.
    package static func names(in path: String) throws(Failure) -> [String] {
        var names: [String] = []
        try forEachName(in: path) { names.append(String(cString: $0)) }
        return names
    }

    /// The names that are UTF-8, and whether there are others.
    package static func validNames(in path: String) throws(Failure) -> (names: [String], areAll: Bool) {
        var (names, areAll): ([String], Bool) = ([], true)
        try forEachName(in: path) { bytes in
            if let name = String(validatingCString: bytes) { names.append(name) } else { areAll = false }
        }
        return (names, areAll)
    }

    private static func forEachName(in path: String, _ body: (UnsafePointer<CChar>) -> Void) throws(Failure) {
        guard let folder = opendir(path) else { throw Failure(path: path, code: errno) }
        defer { closedir(folder) }
        while true {
            // Only `errno` tells an error from the end.
            errno = 0
            guard let entry = readdir(folder) else {
                guard errno == 0 else { throw Failure(path: path, code: errno) }
                return
            }
            withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    if strcmp(name, ".") != 0 && strcmp(name, "..") != 0 { body(name) }
                }
            }
        }
    }
}
