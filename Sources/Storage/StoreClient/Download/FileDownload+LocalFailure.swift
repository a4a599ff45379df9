import Foundation

extension FileDownload {
    /// The reason why the file cannot be written on this machine: a sentence without a full stop.
    package struct LocalFailure: Error, Sendable, Hashable, CustomStringConvertible {
        /// The errors of a folder, a file system or this process, which other files would have, too.
        private static let common: Set<Int32> = [
            EACCES, EPERM, EROFS, ENOSPC, EDQUOT, EIO, EMFILE, ENFILE, ENOMEM,
        ]

        package let message: String

        package var description: String { message }

        /// The same without the path, for readers who must not see it.
        package let messageWithoutPath: String

        /// Whether other files would fail for the same reason, as on a full disk. Otherwise it concerns the file's name only.
        package let concernsAll: Bool

        init(_ what: String, _ path: String, _ reason: String? = nil, concernsAll: Bool = false) {
            let suffix = reason.map { ": \($0)" } ?? ""
            message = "\(what) \(path)\(suffix)"
            messageWithoutPath = "\(what) the file\(suffix)"
            self.concernsAll = concernsAll
        }

        /// The failure of the latest call, from `errno`.
        ///
        /// - Parameter exists: whether the file exists, so that a missing permission concerns this file.
        static func last(_ what: String, _ path: String, exists: @autoclosure () -> Bool = false) -> LocalFailure {
            let code = errno
            let isOfFile = [EACCES, EPERM].contains(code) && exists()
            return LocalFailure(
                "cannot \(what)", path, String(cString: strerror(code)),
                concernsAll: common.contains(code) && !isOfFile)
        }
    }
}
