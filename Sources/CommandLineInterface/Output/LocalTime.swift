package import Basics
import Foundation

/// Times for people: RFC 3339 in the time zone of this machine, e.g. `2026-01-31T16:00:00+08:00`; in UTC with a `Z`.
package enum LocalTime {
    package static func text(_ time: UnixTime) -> String {
        var seconds = time_t(time.seconds)
        var local = tm()
        guard localtime_r(&seconds, &local) != nil else { return RFC3339.text(time) }
        return text(time, offset: Int64(local.tm_gmtoff))
    }

    /// - Parameter offset: seconds east of UTC.
    static func text(_ time: UnixTime, offset: Int64) -> String {
        let minutes = offset / 60
        guard minutes != 0 else { return RFC3339.text(time) }
        let civil = RFC3339.text(time.adding(seconds: minutes * 60)).dropLast()
        let (hours, rest) = minutes.magnitude.quotientAndRemainder(dividingBy: 60)
        return "\(civil)\(minutes < 0 ? "-" : "+")\(hours.padded(to: 2)):\(rest.padded(to: 2))"
    }
}
