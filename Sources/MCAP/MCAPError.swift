/// The reason why a recording's summary cannot be read.
package enum MCAPError: Error, Hashable, Sendable {
    /// The file does not begin with the format's magic bytes.
    case notMCAP
    /// The file does not end with a footer and the magic bytes: the recording was not closed.
    case notClosed
    /// The recording has no summary section.
    case noSummary
    /// A record contradicts the format or another record.
    case malformed(String)
    /// The summary exceeds a limit of ``MCAPLimits``.
    case limitExceeded(String)
    /// The file cannot be read from the disk.
    case unreadable
}

extension MCAPError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notMCAP: "the file does not begin as an MCAP file"
        case .notClosed: "the recording was not closed: it has no end record"
        case .noSummary: "the recording has no summary"
        case .malformed(let problem): "the recording is malformed: \(problem)"
        case .limitExceeded(let limit): "the recording exceeds a limit: \(limit)"
        case .unreadable: "the recording cannot be read"
        }
    }
}
