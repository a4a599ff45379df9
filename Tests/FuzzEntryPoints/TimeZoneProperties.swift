import Basics
import TimeZones

/// Properties of the reader of compiled time zones.
enum TimeZoneProperties {
    /// Files without and with changes, with rules of each kind.
    static let seeds: [[UInt8]] =
        ["UTC0", "", "NZST-12NZDT,M9.5.0,M4.1.0/3", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "XXX-1YYY-3:30:15,J60/0,59/167"]
        .flatMap { rule in
            [[], [(-1_000_000_000, 1), (1_700_000_060, 0)], [(1_700_000_000, 1), (1_700_043_200, 0)]].map {
                file($0, rule)
            }
        }

    /// Returns a file of two offsets: `changes` have their times and the number of the offset.
    private static func file(_ changes: [(Int64, UInt8)], _ rule: String) -> [UInt8] {
        let offsets = [Int32(45_900), -39_600].map { bytes($0) + [0, 0] }.joined()
        func header(_ changes: Int) -> [UInt8] {
            Array("TZif2".utf8) + [UInt8](repeating: 0, count: 27) + bytes(UInt32(changes)) + bytes(UInt32(2))
                + bytes(UInt32(4))
        }
        let old = header(0) + offsets + Array("XXX\0".utf8)
        let times = changes.flatMap { bytes($0.0) } + changes.map(\.1)
        return old + header(changes.count) + times + offsets + Array("XXX\0\n\(rule)\n".utf8)
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// Checks that the days around each change follow each other, and that each of them contains its beginning.
    static func check(_ input: [UInt8]) {
        guard let zone = TimeZoneFile.parse(input, name: "Test/Zone") else { return }
        let spans = zone.spans(in: TimeZoneRules.allTimes)
        precondition(
            zip(spans, spans.dropFirst()).allSatisfy { $0.seconds.upperBound == $1.seconds.lowerBound }, "gaps")
        for span in spans.prefix(64) {
            let start = span.seconds.lowerBound
            precondition(
                start % TimeZoneRules.quarter == 0 && span.offset % TimeZoneRules.quarter == 0, "a change is late")
            for time in [start - 1, start, start + TimeZoneRules.day] {
                let day = zone.day(of: UnixTime(seconds: time))
                precondition(zone.start(ofDay: day) <= zone.start(ofDay: day + 1), "a day ends before it begins")
            }
        }
    }
}
