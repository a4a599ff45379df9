/// The reason why a recording cannot be read, or can only be read in part.
package enum MCAPError: Error, Hashable, Sendable {
    /// The file does not begin with the format's magic bytes.
    case notMCAP
    /// The file does not end with a footer and the magic bytes: the recording was not closed.
    case notClosed
    /// A record contradicts the format or another record.
    case malformed(String)
    /// The topics are only in chunks with this compression, and such chunks are not read.
    case compressed(String)
    /// The recording exceeds a limit of ``MCAPLimits``.
    case limitExceeded(String)
    /// The file cannot be read from the disk.
    case unreadable
    /// The reader was told to stop.
    case interrupted
}

extension MCAPError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notMCAP: "the file does not begin as an MCAP file"
        case .notClosed: "the recording was not closed: it has no end record"
        case .malformed(let problem): "the recording is malformed: \(problem)"
        case .compressed(let compression):
            "the summary does not repeat the channels, and chunks with the compression \"\(compression)\" are not read"
        case .limitExceeded(let limit): "the recording exceeds a limit: \(limit)"
        case .unreadable: "the recording cannot be read"
        case .interrupted: "the gateway stopped while it read the recording"
        }
    }
}
