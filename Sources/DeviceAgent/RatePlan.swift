import Foundation

/// The rate limits of an agent by the time of day on the machine's clock.
package struct RatePlan: Sendable, Hashable {
    /// A part of each day. If its end is not after its beginning, it extends past midnight.
    package struct Window: Sendable, Hashable {
        /// The beginning and end, in minutes since midnight.
        package let start: Int
        package let end: Int
        /// Bytes per second; 0 = nothing is sent, `nil` = unlimited.
        package let rate: Int64?

        package init(start: Int, end: Int, rate: Int64?) {
            self.start = start
            self.end = end
            self.rate = rate
        }

        func contains(_ minute: Int) -> Bool {
            start < end ? (start..<end).contains(minute) : minute >= start || minute < end
        }
    }

    /// The windows; the first that contains the time applies.
    package var windows: [Window] = []
    /// The limit outside of the windows, in bytes per second; 0 = nothing is sent, `nil` = unlimited.
    package var standard: Int64?

    package init() {}

    /// - Parameter minute: minutes since midnight.
    package func rate(atMinute minute: Int) -> Int64? {
        windows.first { $0.contains(minute) }.map(\.rate) ?? standard
    }

    /// Whether the limit is always the same.
    var isConstant: Bool { windows.isEmpty }

    /// Returns the minutes since midnight on the machine's clock, in its time zone.
    package static func currentMinute() -> Int {
        var now = time(nil)
        var local = tm()
        localtime_r(&now, &local)
        return Int(local.tm_hour) * 60 + Int(local.tm_min)
    }

    /// Returns the minutes since midnight for e.g. `08:30`; `24:00` is the end of the day.
    package static func minute(of text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hour = UInt8(parts[0]),
            let minute = UInt8(parts[1]), minute < 60, hour < 24 || (hour == 24 && minute == 0)
        else { return nil }
        return Int(hour) * 60 + Int(minute)
    }
}
