import Foundation

/// How fast an agent sends, by the time of day on the machine's clock.
package struct RatePlan: Sendable, Hashable {
    /// A part of each day. One whose end is not after its beginning goes over midnight.
    package struct Window: Sendable, Hashable {
        /// Minutes since midnight.
        package let start: Int
        package let end: Int
        /// Bytes a second; 0 = nothing is sent, `nil` = without a limit.
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

    /// The first that has the time counts.
    package var windows: [Window] = []
    /// At any other time: bytes a second; 0 = nothing is sent, `nil` = without a limit.
    package var standard: Int64?

    package init() {}

    /// - Parameter minute: since midnight.
    package func rate(atMinute minute: Int) -> Int64? {
        windows.first { $0.contains(minute) }.map(\.rate) ?? standard
    }

    /// Whether it is always the same.
    var isConstant: Bool { windows.isEmpty }

    /// The minute of the day on the machine's clock, in its time zone.
    package static func currentMinute() -> Int {
        var now = time(nil)
        var local = tm()
        localtime_r(&now, &local)
        return Int(local.tm_hour) * 60 + Int(local.tm_min)
    }

    /// Minutes since midnight of `08:30`; `24:00` is the end of the day.
    package static func minute(of text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hour = UInt8(parts[0]),
            let minute = UInt8(parts[1]), minute < 60, hour < 24 || (hour == 24 && minute == 0)
        else { return nil }
        return Int(hour) * 60 + Int(minute)
    }
}
