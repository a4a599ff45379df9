package import Basics

/// A recording's times and topics (https://mcap.dev/spec). They are read from the summary at its end, and from the data section
/// if the summary does not have them; see ``MCAPLimits`` for how much is read.
package struct MCAPSummary: Sendable, Hashable {
    /// The time of the first message; `nil` if there are no messages, or the time is unknown.
    package let recordedFrom: UnixTime?
    /// The time of the last message; `nil` if there are no messages, or not all of them were found.
    package let recordedTo: UnixTime?
    /// The number of messages; `nil` = not recorded.
    package let messages: UInt64?
    /// The names of topics, sorted; see ``MCAPLimits`` for their number.
    package let topics: [String]
    /// The reason why topics or times may be missing; `nil` = none are.
    package let shortfall: MCAPError?

    /// Reads a recording.
    ///
    /// - Throws: the reason why nothing can be said about its contents.
    package init(_ source: some MCAPSource, limits: MCAPLimits = MCAPLimits()) throws(MCAPError) {
        var reader = MCAPReader(source, limits: limits)
        try reader.read()
        let times = reader.contents.times
        // 64 bits of nanoseconds fit into 63 bits of microseconds.
        recordedFrom = (times?.lowerBound).map { UnixTime(microseconds: Int64($0 / 1000)) }
        recordedTo =
            reader.hasAllTimes ? (times?.upperBound).map { UnixTime(microseconds: Int64($0 / 1000)) } : nil
        messages = reader.contents.statistics?.messages
        topics = reader.contents.topics.sorted()
        shortfall = reader.shortfall
    }
}

/// The limits for reading one recording.
package struct MCAPLimits: Sendable {
    /// The number of different topics that are kept, and the longest of them in bytes.
    package static let topics = 1000
    package static let topicBytes = 256

    /// The longest summary section in bytes that is read as a whole. Of a longer one, the groups that its Summary Offset section
    /// names are read.
    package var summaryBytes: Int64
    /// The number of bytes that are read of a recording in all.
    package var readBytes: Int64
    /// The number of bytes after which chunks are no longer searched for channels, so that the rest is left for the times of the
    /// chunks up to the end of the file.
    package var bytesBeforeSkippingChunks: Int64

    package init(
        summaryBytes: Int64 = 16 << 20, readBytes: Int64 = 64 << 20, bytesBeforeSkippingChunks: Int64 = 32 << 20
    ) {
        self.summaryBytes = summaryBytes
        self.readBytes = readBytes
        self.bytesBeforeSkippingChunks = bytesBeforeSkippingChunks
    }
}
