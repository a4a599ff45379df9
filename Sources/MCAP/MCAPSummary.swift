import Basics

/// A recording's own description of its contents, read from the end of the file (https://mcap.dev/spec). No message is read, so the
/// compression of chunks makes no difference.
package struct MCAPSummary: Sendable, Hashable {
    /// The times of the first and the last message; `nil` if there are no messages, or their times are not in the range of ``UnixTime``.
    package private(set) var recordedFrom: UnixTime?
    package private(set) var recordedTo: UnixTime?
    /// The number of messages; `nil` = not recorded.
    package private(set) var messages: UInt64?
    /// The names of topics, sorted; see ``MCAPLimits`` for their number.
    package private(set) var topics: [String] = []

    private enum Opcode {
        static let footer: UInt8 = 0x02
        static let channel: UInt8 = 0x04
        static let chunkIndex: UInt8 = 0x08
        static let statistics: UInt8 = 0x0B
    }

    private static let magic: [UInt8] = [0x89, 0x4D, 0x43, 0x41, 0x50, 0x30, 0x0D, 0x0A]
    /// An opcode and the length of the record's content.
    private static let recordHead = 9
    private static let footerContent = 20

    /// Reads the summary of a complete recording.
    package init(_ source: some MCAPSource) throws(MCAPError) {
        let magicBytes = Int64(Self.magic.count)
        let footerBytes = Int64(Self.recordHead + Self.footerContent) + magicBytes
        guard source.size >= magicBytes, try source.bytes(at: 0, count: magicBytes) == Self.magic else {
            throw .notMCAP
        }
        guard source.size >= magicBytes + footerBytes else { throw .notClosed }
        let footerStart = source.size - footerBytes
        let footer = try source.bytes(at: footerStart, count: footerBytes)
        guard footer.suffix(Self.magic.count).elementsEqual(Self.magic), footer[0] == Opcode.footer else {
            throw .notClosed
        }
        var fields = MCAPFields(footer[1...])
        guard try fields.number(UInt64.self) == UInt64(Self.footerContent) else {
            throw .malformed("the end record has a wrong length")
        }
        let summaryStart = try fields.number(UInt64.self)
        guard summaryStart != 0 else { throw .noSummary }
        guard summaryStart >= UInt64(magicBytes), summaryStart <= UInt64(footerStart) else {
            throw .malformed("the summary is not within the file")
        }
        let length = footerStart - Int64(summaryStart)
        guard length <= MCAPLimits.summaryBytes else {
            throw .limitExceeded("the summary has \(length) bytes, at most \(MCAPLimits.summaryBytes) are read")
        }
        try read(try source.bytes(at: Int64(summaryStart), count: length))
    }

    private mutating func read(_ summary: [UInt8]) throws(MCAPError) {
        var names: Set<String> = []
        var chunks: ClosedRange<UInt64>?
        var statistics: (messages: UInt64, first: UInt64, last: UInt64)?
        var rest = summary[...]
        while !rest.isEmpty {
            guard rest.count >= Self.recordHead else { throw .malformed("a record is cut short") }
            let opcode = rest[rest.startIndex]
            var head = MCAPFields(rest.dropFirst().prefix(Self.recordHead - 1))
            let length = try head.number(UInt64.self)
            let content = rest.dropFirst(Self.recordHead)
            guard length <= UInt64(content.count) else { throw .malformed("a record is longer than the summary") }
            var fields = MCAPFields(content.prefix(Int(length)))
            rest = content.dropFirst(Int(length))
            switch opcode {
            case Opcode.channel:
                // The channel's id and its schema's.
                try fields.skip(4)
                let topic = try fields.text()
                guard names.count < MCAPLimits.topics, (1...MCAPLimits.topicBytes).contains(topic.count) else {
                    continue
                }
                if let name = String(validating: topic, as: UTF8.self), Self.isPrintable(name) { names.insert(name) }
            case Opcode.chunkIndex:
                let (first, last) = (try fields.number(UInt64.self), try fields.number(UInt64.self))
                guard first <= last else { throw .malformed("a chunk ends before it begins") }
                chunks = chunks.map { min($0.lowerBound, first)...max($0.upperBound, last) } ?? first...last
            case Opcode.statistics:
                let messages = try fields.number(UInt64.self)
                // The numbers of schemas, channels, attachments, metadata records and chunks.
                try fields.skip(2 + 4 * 4)
                statistics = (messages, try fields.number(UInt64.self), try fields.number(UInt64.self))
            default:
                // Records without a part in this summary, and those of later versions.
                continue
            }
        }
        topics = names.sorted()
        messages = statistics?.messages
        if let statistics, statistics.messages > 0 {
            guard statistics.first <= statistics.last else { throw .malformed("the recording ends before it begins") }
            setRange(statistics.first...statistics.last)
        } else if statistics == nil, let chunks {
            setRange(chunks)
        }
    }

    private mutating func setRange(_ nanoseconds: ClosedRange<UInt64>) {
        // 64 bits of nanoseconds fit into 63 bits of microseconds.
        recordedFrom = UnixTime(microseconds: Int64(nanoseconds.lowerBound / 1000))
        recordedTo = UnixTime(microseconds: Int64(nanoseconds.upperBound / 1000))
    }

    private static func isPrintable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
    }
}
