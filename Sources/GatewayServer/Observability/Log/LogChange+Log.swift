package import Basics
package import Database

extension Logger {
    /// Writes a line about the database's write-ahead log.
    ///
    /// - Parameter path: the path of the database.
    package func write(_ change: LogChange, path: String) {
        switch change {
        case .blocked(let bytes):
            write(
                "another program reads the database and keeps its write-ahead log from shrinking",
                [
                    "bytes": "\(bytes)",
                    "consequence": "the log grows with every change, and a start after a crash takes longer",
                    "hint": "find the program with: fuser -v \(path) (or lsof), and end its read transaction",
                ], level: .warning)
        case .released(let duration):
            write("the database's write-ahead log can shrink again", ["seconds": "\(duration.wholeSeconds)"])
        }
    }
}
