import Basics
import TestSupport
import Testing

@testable import TimeZones

@Suite(.timeLimited) struct TimeZoneTests {
    private func zone(_ name: String) throws -> TimeZoneRules { try TimeZoneFolder.system.zone(name) }

    private func day(_ date: String) throws -> Int64 {
        let parts = date.split(separator: "-").compactMap { Int($0) }
        let start = try #require(
            CivilTime(year: parts[0], month: parts[1], day: parts[2], hour: 0, minute: 0, second: 0))
        return TimeZoneRules.utc.day(of: start.unix)
    }

    @Test(arguments: [
        ("UTC", "2026-03-29", "2026-03-29T00:00:00Z", 24.0),
        ("Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", 23),
        ("Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z", 25),
        ("Pacific/Auckland", "2026-04-05", "2026-04-04T11:00:00Z", 25),
        ("Pacific/Auckland", "2026-09-27", "2026-09-26T12:00:00Z", 23),
        ("Asia/Kathmandu", "2026-01-01", "2025-12-31T18:15:00Z", 24),
        // 15 minutes were skipped when Nepal's offset changed from 5:30 to 5:45.
        ("Asia/Kathmandu", "1986-01-01", "1985-12-31T18:30:00Z", 23.75),
        ("Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00:00Z", 24.5),
        ("Australia/Lord_Howe", "2026-10-04", "2026-10-03T13:30:00Z", 23.5),
        // The day began at 01:00, and the one before the end of summer had the last hour twice.
        ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z", 23),
        ("America/Sao_Paulo", "2018-02-17", "2018-02-17T02:00:00Z", 25),
        ("America/Sao_Paulo", "2026-11-04", "2026-11-04T03:00:00Z", 24),
        // Samoa had no 30th of December in 2011.
        ("Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z", 0),
        ("Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z", 24),
        // By the rule at the end of the file.
        ("Europe/Berlin", "2150-07-01", "2150-06-30T22:00:00Z", 24),
    ])
    func dayBeginsWhenTheZoneSays(_ name: String, _ date: String, _ start: String, _ hours: Double) throws {
        let (zone, day) = (try zone(name), try day(date))
        let (first, next) = (zone.start(ofDay: day), zone.start(ofDay: day + 1))
        #expect(RFC3339.text(first) == start)
        #expect(first.duration(to: next) == .seconds(Int64(hours * 3600)))
        guard hours > 0 else { return }
        #expect(zone.day(of: first) == day)
        #expect(zone.day(of: next.adding(microseconds: -1)) == day)
        #expect(zone.day(of: first.adding(microseconds: -1)) < day)
    }

    /// For each change of the offsets of all zones of the machine.
    @Test func daysFollowEachOtherInEveryZone() throws {
        var zones = 0
        for name in try names() {
            guard let zone = try? zone(name) else { continue }
            zones += 1
            for span in zone.spans(in: TimeZoneRules.allTimes).dropFirst() {
                let change = span.seconds.lowerBound
                #expect(change % 900 == 0 && span.offset % 900 == 0, "\(name)")
                let days = [-1, 0].map { zone.day(of: UnixTime(seconds: change + $0)) }
                #expect(days[0] <= days[1], "\(name) at \(change)")
                for day in days[0] - 1...days[1] + 1 {
                    let (start, next) = (zone.start(ofDay: day), zone.start(ofDay: day + 1))
                    #expect(start <= next, "\(name) day \(day)")
                    guard start < next else { continue }
                    #expect(zone.day(of: start) == day, "\(name) day \(day)")
                    #expect(zone.day(of: next.adding(seconds: -1)) == day, "\(name) day \(day)")
                }
            }
        }
        #expect(zones > 300)
    }

    private func names() throws -> [String] {
        let folder = "/usr/share/zoneinfo"
        let areas = try FolderListing.names(in: folder)
        return areas
            + areas.flatMap { area in
                ((try? FolderListing.names(in: "\(folder)/\(area)")) ?? []).map { "\(area)/\($0)" }
            }
    }

    @Test(arguments: [
        "", "Mars/Base", "../../etc/passwd", "Europe/../Europe/Berlin", "/usr/share/zoneinfo/UTC", "Europe",
        "posix/UTC",
        "right/UTC", "posixrules", "localtime", "zone.tab", "Europe/Berlin ", "Europe//Berlin", "Europe/Berl\u{0}in",
        String(repeating: "A", count: 65),
    ])
    func otherNamesAreUnknown(_ name: String) {
        #expect(throws: TimeZoneError.unknown) { try TimeZoneFolder.system.zone(name) }
    }

    @Test func machineWithoutZonesHasUTC() throws {
        let folder = TimeZoneFolder("/nonexistent/zoneinfo")
        #expect(try folder.zone("UTC") == .utc)
        #expect(throws: TimeZoneError.noZones(folder: "/nonexistent/zoneinfo")) { try folder.zone("Europe/Berlin") }
    }

    @Test(arguments: [
        "", "CE", "CET", "CET-", "CET-25", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,M3.5.0/168,M10.5.0", "CET-1CEST,J0,J365",
        "CET-1CEST,366,J365", "CET-1CEST,M3.5.0,M10.5.0 ", "<+1-1", "CET-1:60",
    ])
    func malformedRuleIsRefused(_ text: String) {
        #expect(TimeZoneRule(text) == nil)
    }

    @Test(arguments: [
        ("EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00:00Z 2026-11-01T06:00:00Z"),
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z 2026-10-25T01:00:00Z"),
        ("XXX-1YYY-3:30:15,J60/0,59/1", "2026-02-28T21:29:45Z 2026-02-28T23:00:00Z"),
    ])
    func ruleHasItsChanges(_ text: String, _ expected: String) throws {
        let changes = try #require(TimeZoneRule(text)).changes(in: 2026...2026)
        #expect(changes.map { RFC3339.text(UnixTime(seconds: $0.at)) }.joined(separator: " ") == expected)
    }

    /// Every file that is cut or has another byte is refused or read, without a trap.
    @Test func damagedFileIsNoReasonToEnd() throws {
        let bytes = try PrivateFile.contents(of: "/usr/share/zoneinfo/Australia/Lord_Howe")
        for count in 0..<bytes.count { #expect(TimeZoneFile.parse(Array(bytes[..<count]), name: "X") == nil) }
        for index in bytes.indices {
            for byte in [0, 0x7F, 0xFF] as [UInt8] {
                var damaged = bytes
                damaged[index] = byte
                _ = TimeZoneFile.parse(damaged, name: "X")
            }
        }
    }
}

extension UnixTime {
    fileprivate func duration(to other: UnixTime) -> Duration { other.duration(since: self) }
}
