import Basics

/// A reader for compiled time zones: TZif of version 2 or later (RFC 8536), as the package tzdata has them.
package enum TimeZoneFile {
    /// The number of changes up to which a file is read; the longest one of tzdata has 236.
    private static let mostChanges = 4096
    /// The largest offset from UTC, in seconds (section 3.2).
    private static let offsets: ClosedRange<Int64> = -89_999...93_599
    /// The years whose changes are computed from the rule at the end of the file.
    private static let years = 1970...2199

    /// The numbers of the elements that follow a header.
    private struct Header {
        let version: UInt8
        let isUTC, isStandard, leapSeconds, changes, types, characters: Int

        /// The number of bytes that follow.
        func length(timeBytes: Int) -> Int {
            changes * (timeBytes + 1) + types * 6 + characters + leapSeconds * (timeBytes + 4) + isStandard + isUTC
        }
    }

    /// Reads the rules of a zone; `nil` for other bytes, and for rules with leap seconds, which Unix time does not count.
    package static func parse(_ bytes: [UInt8], name: String) -> TimeZoneRules? {
        var rest = bytes[...]
        guard let old = header(&rest), old.version >= UInt8(ascii: "2"), skip(old.length(timeBytes: 4), in: &rest),
            let header = header(&rest), header.leapSeconds == 0, rest.count >= header.length(timeBytes: 8)
        else { return nil }
        let times = (0..<header.changes).map { _ in integer(&rest, bytes: 8) }
        let indices = rest.prefix(header.changes).map(Int.init)
        rest.removeFirst(header.changes)
        let types = (0..<header.types).map { _ in
            let offset = integer(&rest, bytes: 4)
            rest.removeFirst(2)
            return offset
        }
        rest.removeFirst(header.characters + header.isStandard + header.isUTC)
        guard indices.allSatisfy(types.indices.contains), types.allSatisfy(offsets.contains),
            zip(times, times.dropFirst()).allSatisfy({ $0 < $1 }), let initial = types.first
        else { return nil }
        var changes = zip(times, indices).map { TimeZoneRules.Change(at: $0, offset: types[$1]) }
        guard let footer = footer(rest) else { return nil }
        if !footer.isEmpty {
            guard let rule = TimeZoneRule(footer) else { return nil }
            let last = times.last ?? .min
            changes += rule.changes(in: years).filter { $0.at > last }
        }
        return TimeZoneRules(name: name, initial: initial, changes: changes)
    }

    private static func header(_ rest: inout ArraySlice<UInt8>) -> Header? {
        guard rest.count >= 44, rest.starts(with: "TZif".utf8) else { return nil }
        let version = rest[rest.startIndex + 4]
        rest.removeFirst(20)
        let counts = (0..<6).map { _ in Int(UInt32(truncatingIfNeeded: integer(&rest, bytes: 4))) }
        guard counts.allSatisfy({ $0 <= mostChanges }), (1...256).contains(counts[4]) else { return nil }
        return Header(
            version: version, isUTC: counts[0], isStandard: counts[1], leapSeconds: counts[2], changes: counts[3],
            types: counts[4], characters: counts[5])
    }

    private static func skip(_ count: Int, in rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.count >= count else { return false }
        rest.removeFirst(count)
        return true
    }

    /// Reads a signed number, whose bytes the caller has counted.
    private static func integer(_ rest: inout ArraySlice<UInt8>, bytes count: Int) -> Int64 {
        let bits = rest.prefix(count).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        rest.removeFirst(count)
        return count == 8 ? Int64(bitPattern: bits) : Int64(Int32(truncatingIfNeeded: bits))
    }

    /// Returns the text between the line ends behind the tables.
    private static func footer(_ rest: ArraySlice<UInt8>) -> String? {
        guard rest.count >= 2, rest.first == 0x0A, rest.last == 0x0A else { return nil }
        let text = rest.dropFirst().dropLast()
        guard text.allSatisfy(\.isASCIIPrintable) else { return nil }
        return String(decoding: text, as: UTF8.self)
    }
}
