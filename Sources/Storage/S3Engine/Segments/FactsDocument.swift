import Basics
import Crypto
import ObjectStore

/// The contents of an object below `facts/`: the facts in the first line, and then the segments of the file, a line each, so that the file
/// can be made again without its rows.
struct FactsDocument: Equatable {
    let facts: [UInt8]
    /// In the order of their numbers.
    let segments: [NumberedSegment]

    init(_ facts: [UInt8], _ segments: [NumberedSegment]) {
        self.facts = facts
        self.segments = segments
    }

    /// Reads a document; `nil` if it is not one that ``bytes`` made.
    init?(_ bytes: [UInt8]) {
        let newline = UInt8(ascii: "\n")
        guard bytes.last == newline else { return nil }
        let lines = bytes.dropLast().split(separator: newline, omittingEmptySubsequences: false)
        let segments = lines.dropFirst().map { NumberedSegment(line: String(decoding: $0, as: UTF8.self)) }
        let valid = segments.compactMap(\.self)
        guard let first = lines.first, valid.count == segments.count else { return nil }
        self.init(Array(first), valid)
    }

    /// The facts are JSON, in which a line break is only between tokens.
    var bytes: [UInt8] {
        facts.filter { $0 != UInt8(ascii: "\n") } + Array("\n".utf8) + segments.flatMap { Array("\($0.line)\n".utf8) }
    }

    /// The size of the file in bytes.
    var size: Int64 { segments.reduce(0) { $0 + $1.segment.size } }
}

extension NumberedSegment {
    fileprivate init?(line: String) {
        let words = line.split(separator: " ")
        guard words.count == 4, let number = Int(words[0]), let size = Int64(words[2]), size >= 0,
            let crc64 = UInt64(words[3], radix: 16), words[1].utf8.count == 32, Hex.decode(String(words[1])) != nil
        else { return nil }
        self.init(number, Segment(String(words[1]), FileContent(size: size, crc64: crc64)))
    }

    fileprivate var line: String {
        "\(number) \(segment.id) \(segment.size) \(String(segment.content.crc64, radix: 16))"
    }
}
