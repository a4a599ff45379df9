import Basics
import TestSupport
import Testing
import TimeZones

@testable import ObjectFilters

@Suite(.timeLimited) struct FilterDayTests {
    /// 2026-11-30T21:30:00Z.
    private static let now: Int64 = 1_796_074_200

    private func times(_ text: String, in zone: String) throws -> String {
        let filter = try FilterParser.parse(text).resolved(at: Self.now, in: try TimeZoneFolder.system.zone(zone))
        guard case .term(.recorded(let interval)) = filter.root else { return "\(filter.root)" }
        return [interval.lower, interval.upper].map { time in
            time.map { RFC3339.text(UnixTime(microseconds: $0)) } ?? "*"
        }.joined(separator: " ")
    }

    @Test(arguments: [
        ("recorded=today", "UTC", "2026-11-30T00:00:00Z 2026-12-01T00:00:00Z"),
        ("recorded=today", "Pacific/Auckland", "2026-11-30T11:00:00Z 2026-12-01T11:00:00Z"),
        ("recorded=yesterday", "Pacific/Auckland", "2026-11-29T11:00:00Z 2026-11-30T11:00:00Z"),
        ("recorded=last 7 days", "Asia/Kathmandu", "2026-11-24T18:15:00Z 2026-12-01T18:15:00Z"),
        ("recorded>=yesterday", "America/Sao_Paulo", "2026-11-29T03:00:00Z *"),
        ("recorded<2026-03-29", "Europe/Berlin", "* 2026-03-28T23:00:00Z"),
        // 23 hours.
        ("recorded=2026-03-29", "Europe/Berlin", "2026-03-28T23:00:00Z 2026-03-29T22:00:00Z"),
    ])
    func daysAreThoseOfTheZone(_ text: String, _ zone: String, _ expected: String) throws {
        #expect(try times(text, in: zone) == expected)
    }

    @Test(arguments: ["recorded=yesterday", "a=b created>=today", "NOT recorded=\"last 7 days\""])
    func storedFilterRefusesDaysThatChange(_ text: String) throws {
        let error = try #require(
            #expect(throws: FilterError.self) { try FilterParser.parseForChange(text) })
        #expect(
            error.description.contains("expected a date such as 2026-01-31, because this filter selects what changes"))
        #expect(text.utf8.dropFirst(error.position).first.map { "yt\"".utf8.contains($0) } == true)
        #expect(try FilterParser.parse(text).dependsOnTime && FilterParser.parse(text).steady == nil)
    }

    @Test func dateDoesNotDependOnTheTime() throws {
        #expect(try FilterParser.parseForChange("recorded=2026-11-22").steady != nil)
    }
}
