/// Reads what a recording says about its contents: from the summary at its end, and from the data section where the summary does
/// not say it (https://mcap.dev/spec, section "File Structure").
struct MCAPReader<Source: MCAPSource> {
    private static var magic: [UInt8] { [0x89, 0x4D, 0x43, 0x41, 0x50, 0x30, 0x0D, 0x0A] }
    private static var footerContent: Int { 20 }

    /// The end of a closed recording. The offset of a missing section is 0.
    private struct Footer {
        let start: Int64
        let summary: UInt64
        let summaryOffsets: UInt64
    }

    private(set) var contents = MCAPContents()
    /// The reason why the contents may be incomplete.
    private(set) var shortfall: MCAPError?
    /// Whether all records were read that have times, or define channels.
    private var (hasReadAllTimes, hasReadAllChannels) = (false, false)

    private var window: MCAPWindow<Source>
    private let limits: MCAPLimits

    init(_ source: Source, limits: MCAPLimits) {
        window = MCAPWindow(source, limit: limits.readBytes)
        self.limits = limits
    }

    /// Whether the times are those of all messages.
    var hasAllTimes: Bool { hasReadAllTimes || contents.statistics?.times != nil }

    private var needsChannels: Bool { contents.mayHaveMoreChannels && !hasReadAllChannels }

    mutating func read() throws(MCAPError) {
        let size = window.source.size
        let magicBytes = Self.magic.count
        guard size >= magicBytes, try window.bytes(at: 0, count: magicBytes).elementsEqual(Self.magic) else {
            throw .notMCAP
        }
        guard let footer = try footer() else {
            shortfall = .notClosed
            return try readData(Int64(magicBytes)..<size)
        }
        guard footer.summary > 0 else { return try readData(Int64(magicBytes)..<footer.start) }
        guard footer.summary >= magicBytes, footer.summary <= footer.start else {
            throw .malformed("the summary is not within the file")
        }
        try readSummary(Int64(footer.summary)..<footer.start, footer)
        if needsChannels || !hasReadAllTimes, shortfall == nil {
            try readData(Int64(magicBytes)..<Int64(footer.summary))
        }
    }

    /// Returns the end of a recording; `nil` if the recording was not closed.
    private mutating func footer() throws(MCAPError) -> Footer? {
        let count = MCAPRecord.headBytes + Self.footerContent + Self.magic.count
        let start = window.source.size - Int64(count)
        guard start >= Self.magic.count else { return nil }
        let bytes = try window.bytes(at: start, count: count)
        guard bytes.suffix(Self.magic.count).elementsEqual(Self.magic), bytes.first == MCAPRecord.Opcode.footer else {
            return nil
        }
        var fields = MCAPFields(bytes.dropFirst())
        guard try fields.number(UInt64.self) == UInt64(Self.footerContent) else {
            throw .malformed("the end record has a wrong length")
        }
        return Footer(
            start: start, summary: try fields.number(UInt64.self), summaryOffsets: try fields.number(UInt64.self))
    }

    private mutating func readSummary(_ section: Range<Int64>, _ footer: Footer) throws(MCAPError) {
        do throws(MCAPError) {
            let isLong = section.upperBound - section.lowerBound > limits.summaryBytes
            if isLong, footer.summaryOffsets > 0 {
                try readGroups(of: section, footer)
            } else {
                try read(section)
            }
            hasReadAllTimes = contents.hasTimes
            // Statistics have the number of channels. Without them, a summary that has channels has them all.
            hasReadAllChannels = contents.statistics == nil && contents.hasChannels
        } catch {
            guard case .limitExceeded = error else { throw error }
            shortfall = error
        }
    }

    /// Reads the groups of a summary that are needed, and not the others, which can have any length.
    private mutating func readGroups(of summary: Range<Int64>, _ footer: Footer) throws(MCAPError) {
        guard footer.summaryOffsets >= summary.lowerBound, footer.summaryOffsets <= footer.start else {
            throw .malformed("the summary offsets are not within the summary")
        }
        let offsets = Int64(footer.summaryOffsets)
        let groups = try groups(offsets..<footer.start, of: summary.lowerBound..<offsets)
        for opcode in [MCAPRecord.Opcode.statistics, MCAPRecord.Opcode.channel] {
            if let group = groups[opcode] { try read(group) }
        }
        if contents.statistics == nil, let group = groups[MCAPRecord.Opcode.chunkIndex] { try read(group) }
    }

    /// Returns the places of the groups of records with one opcode.
    private mutating func groups(
        _ offsets: Range<Int64>, of summary: Range<Int64>
    ) throws(MCAPError) -> [UInt8: Range<Int64>] {
        var groups: [UInt8: Range<Int64>] = [:]
        var position = offsets.lowerBound
        while position < offsets.upperBound {
            let record = try wholeRecord(at: position, before: offsets.upperBound)
            position = record.content.upperBound
            guard record.opcode == MCAPRecord.Opcode.summaryOffset else { continue }
            var fields = try window.fields(of: record)
            let opcode = try fields.number(UInt8.self)
            let (start, length) = (try fields.number(UInt64.self), try fields.number(UInt64.self))
            guard start >= summary.lowerBound, start <= summary.upperBound,
                length <= UInt64(summary.upperBound) - start
            else { throw .malformed("a group of records is not within the summary") }
            groups[opcode] = Int64(start)..<Int64(start + length)
        }
        return groups
    }

    /// Reads all records of a section without chunks.
    private mutating func read(_ section: Range<Int64>) throws(MCAPError) {
        var position = section.lowerBound
        while position < section.upperBound {
            let record = try wholeRecord(at: position, before: section.upperBound)
            try add(record)
            position = record.content.upperBound
        }
    }

    private mutating func wholeRecord(at offset: Int64, before end: Int64) throws(MCAPError) -> MCAPRecord {
        guard let record = try window.record(at: offset, before: end) else {
            throw .malformed("a record is cut short")
        }
        guard record.isWhole else { throw .malformed("a record is longer than the summary") }
        return record
    }

    /// Adds a record other than a chunk. Records without a part in the contents, and those of later versions, are skipped.
    private mutating func add(_ record: MCAPRecord) throws(MCAPError) {
        switch record.opcode {
        case MCAPRecord.Opcode.channel:
            try contents.addChannel(
                try window.fields(of: record), content: record.content.upperBound - record.content.lowerBound)
        case MCAPRecord.Opcode.message: try contents.addMessage(try window.fields(of: record))
        case MCAPRecord.Opcode.chunkIndex: try contents.addChunkIndex(try window.fields(of: record))
        case MCAPRecord.Opcode.statistics: try contents.addStatistics(try window.fields(of: record))
        default: break
        }
    }
}

// The data section, in which messages are skipped.
extension MCAPReader {
    /// Reads the records of the data section until nothing is missing. Of a recording that was not closed, what follows the data
    /// section is read as well.
    ///
    /// A problem ends the reading and keeps the contents that were read before it.
    private mutating func readData(_ section: Range<Int64>) throws(MCAPError) {
        do throws(MCAPError) {
            let isWhole = try readRecords(section, isChunk: false)
            guard isWhole || shortfall == .notClosed else { throw .malformed("the data section is cut short") }
            hasReadAllTimes = true
        } catch {
            switch error {
            case .malformed, .limitExceeded: shortfall = error
            case .notMCAP, .notClosed, .compressed, .unreadable, .interrupted: throw error
            }
        }
    }

    /// - Returns: whether the last record is whole.
    private mutating func readRecords(_ section: Range<Int64>, isChunk: Bool) throws(MCAPError) -> Bool {
        var position = section.lowerBound
        while position < section.upperBound, needsChannels || !hasReadAllTimes {
            guard let record = try window.record(at: position, before: section.upperBound) else { return false }
            // Zeros follow the last record if the disk had allocated more than was written.
            if record.opcode == 0 { return false }
            if record.opcode == MCAPRecord.Opcode.footer { return true }
            if record.opcode == MCAPRecord.Opcode.chunk, !isChunk {
                guard try readChunk(record) else { return false }
            } else if record.isWhole {
                try add(record)
            }
            guard record.isWhole else { return false }
            position = record.content.upperBound
        }
        return true
    }

    /// Reads the times of a chunk, and its channels if it is not compressed. Of a chunk that is cut short, the times are those of
    /// its whole messages.
    ///
    /// - Returns: whether the chunk is whole.
    private mutating func readChunk(_ record: MCAPRecord) throws(MCAPError) -> Bool {
        guard let chunk = try MCAPChunk(record, try window.fields(of: record)) else { return false }
        var isWhole = record.isWhole
        if needsChannels || !isWhole, canRead(chunk) {
            isWhole = try readRecords(chunk.records, isChunk: true) && isWhole
            guard isWhole || shortfall == .notClosed else { throw .malformed("the records of a chunk are cut short") }
        }
        if isWhole { contents.addChunkTimes(chunk.first, chunk.last) }
        return isWhole
    }

    /// Returns whether the records of a chunk can be read, and notes what is missing otherwise.
    private mutating func canRead(_ chunk: MCAPChunk) -> Bool {
        guard chunk.compression.isEmpty else {
            shortfall = shortfall ?? .compressed(chunk.compression)
            return false
        }
        let limit = limits.bytesBeforeSkippingChunks
        guard window.bytesRead < limit else {
            shortfall =
                shortfall ?? .limitExceeded("channels are searched in the chunks of the first \(limit) bytes")
            return false
        }
        return true
    }
}
