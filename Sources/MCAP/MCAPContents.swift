import Basics

/// The contents of a recording, as its records describe them.
struct MCAPContents {
    struct Statistics {
        let messages: UInt64
        let channels: UInt32
        let first: UInt64
        let last: UInt64

        /// The range of the messages' times; `nil` if there are no messages, or the times contradict each other, as some writers
        /// record them.
        var times: ClosedRange<UInt64>? { messages > 0 && first <= last ? first...last : nil }
    }

    private(set) var topics: Set<String> = []
    private(set) var statistics: Statistics?
    /// The times of the messages, chunks and chunk indexes that were read.
    private var timesRead: ClosedRange<UInt64>?
    private var channels: Set<UInt16> = []

    /// Whether further channels may be found.
    var mayHaveMoreChannels: Bool {
        if topics.count >= MCAPLimits.topics { return false }
        return statistics.map { channels.count < $0.channels } ?? true
    }

    var hasChannels: Bool { !channels.isEmpty }

    /// Whether the times are known; this includes recordings without messages.
    var hasTimes: Bool { times != nil || statistics?.messages == 0 }

    /// The range of the messages' times in nanoseconds, as far as it is known.
    var times: ClosedRange<UInt64>? { statistics?.messages == 0 ? nil : statistics?.times ?? timesRead }

    /// - Parameter content: the record's length.
    mutating func addChannel(_ fields: MCAPFields, content: Int64) throws(MCAPError) {
        var fields = fields
        let id = try fields.number(UInt16.self)
        // The id of the schema.
        try fields.skip(2)
        let length = Int64(try fields.number(UInt32.self))
        guard length <= content - Int64(fields.bytesTaken) else {
            throw .malformed("a field is longer than its record")
        }
        channels.insert(id)
        guard topics.count < MCAPLimits.topics, (1...Int64(MCAPLimits.topicBytes)).contains(length) else { return }
        let topic = try fields.take(Int(length))
        if let name = String(validating: topic, as: UTF8.self), Self.isPrintable(name) { topics.insert(name) }
    }

    mutating func addMessage(_ fields: MCAPFields) throws(MCAPError) {
        var fields = fields
        // The channel and the sequence number.
        try fields.skip(2 + 4)
        let time = try fields.number(UInt64.self)
        addTimes(time...time)
    }

    mutating func addChunkIndex(_ fields: MCAPFields) throws(MCAPError) {
        var fields = fields
        let (first, last) = (try fields.number(UInt64.self), try fields.number(UInt64.self))
        if first == 0, last == 0 {
            // The place of the chunk. A map without message indexes follows if it has no messages.
            try fields.skip(8 + 8)
            guard try fields.number(UInt32.self) > 0 else { return }
            addTimes(0...0)
        } else {
            addChunkTimes(first, last)
        }
    }

    /// Adds the times of a chunk, unless they say that it has no messages: zeros by the specification. Version 2.0 of the C++ writer
    /// records the largest number and zero instead.
    mutating func addChunkTimes(_ first: UInt64, _ last: UInt64) {
        guard first <= last, last > 0 else { return }
        addTimes(first...last)
    }

    mutating func addStatistics(_ fields: MCAPFields) throws(MCAPError) {
        var fields = fields
        let messages = try fields.number(UInt64.self)
        // The number of schemas.
        try fields.skip(2)
        let channels = try fields.number(UInt32.self)
        // The numbers of attachments, metadata records and chunks.
        try fields.skip(3 * 4)
        statistics = Statistics(
            messages: messages, channels: channels, first: try fields.number(UInt64.self),
            last: try fields.number(UInt64.self))
    }

    private mutating func addTimes(_ times: ClosedRange<UInt64>) {
        timesRead =
            timesRead.map { min($0.lowerBound, times.lowerBound)...max($0.upperBound, times.upperBound) } ?? times
    }

    private static func isPrintable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
    }
}
