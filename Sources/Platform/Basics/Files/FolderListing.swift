import Glibc

/// Lists a folder completely or throws: Foundation takes a failing `readdir` for the end of the folder, and callers would take the
/// files that are missing from the list for deleted.
package enum FolderListing {
    /// Why a folder could not be listed.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        package let path: String
        /// The `errno` of the call that failed.
        package let code: Int32
        /// The names that are not UTF-8, with `\xE9` for a byte that is not.
        package let names: [String]

        package init(path: String, code: Int32, names: [String] = []) {
            self.path = path
            self.code = code
            self.names = names
        }

        /// The number of names in a description.
        private static let namesInText = 5

        /// The code of a directory that is not listed because it is too deep.
        package static let tooDeep = E2BIG

        /// The code of a directory that is not listed because it belongs to the program itself.
        package static let isOwn = ECANCELED

        package var description: String {
            switch code {
            case EILSEQ: "\(path) has names that are not UTF-8, whose files and folders are left out: \(namesText)"
            case Self.tooDeep: "\(path) is too deep below the directory: its contents are left out"
            case Self.isOwn: "\(path) is in the program's own folder, whose files are left out"
            default: "cannot list \(path): \(String(cString: strerror(code)))"
            }
        }

        private var namesText: String {
            let more = names.count > Self.namesInText ? " and \(names.count - Self.namesInText) more" : ""
            return names.prefix(Self.namesInText).joined(separator: ", ") + more
        }
    }

    /// In no order, without `.` and `..`. In names that are not UTF-8, the replacement character stands for what is not.
    package static func names(in path: String) throws(Failure) -> [String] {
        var names: [String] = []
        try forEachName(in: path) { names.append(String(cString: $0)) }
        return names
    }

    /// The names that are UTF-8, and the others with `\xE9` for a byte that is not.
    package static func validNames(in path: String) throws(Failure) -> (names: [String], others: [String]) {
        var (names, others): ([String], [String]) = ([], [])
        try forEachName(in: path) { bytes in
            if let name = String(validatingCString: bytes) {
                names.append(name)
            } else {
                others.append(escaped(bytes))
            }
        }
        return (names, others)
    }

    /// Returns a name with `\xE9` for each byte that is not ASCII.
    private static func escaped(_ name: UnsafePointer<CChar>) -> String {
        var text = ""
        for offset in 0..<strlen(name) {
            let byte = UInt8(bitPattern: name[offset])
            let digits = String(byte, radix: 16, uppercase: true)
            text += byte < 0x80 ? String(UnicodeScalar(byte)) : "\\x\(digits)"
        }
        return text
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
