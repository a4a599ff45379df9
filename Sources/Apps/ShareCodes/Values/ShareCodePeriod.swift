import Basics
import RPC

/// The time for which a code is registered, by the gateway's clock.
struct ShareCodePeriod: Sendable, Hashable {
    /// The time after its end in which a code stays reserved, so that an old slip of paper never opens a stranger's data.
    static let reservation = Duration.hours(24)
    /// The time after its end in which a code's row is kept without its data.
    static let retention = Duration.days(30)
    private static let minutes: ClosedRange<Int32> = 1...10_080
    private static let standardMinutes: Int32 = 5

    let minutes: Int
    /// The end, in whole seconds.
    let end: UnixTime

    /// - Parameters:
    ///   - minutes: 1 to 10,080; `nil` = 5.
    ///   - expiresAt: an earlier end, in RFC 3339; empty = none. A time that is not in the future is a wrong clock, and is ignored.
    init(minutes: Int32?, expiresAt: String, now: UnixTime) throws(RPCError) {
        let limit = try ShareCodeFields.time(expiresAt, field: "expiresAt")
        guard minutes != nil || limit != nil else {
            throw .invalid("validityMinutes", "is required if expiresAt is not given")
        }
        let given = minutes ?? Self.standardMinutes
        guard Self.minutes.contains(given) else {
            throw .invalid(
                "validityMinutes", "must be \(Self.minutes.lowerBound) to \(Self.minutes.upperBound)")
        }
        self.minutes = Int(given)
        let latest = UnixTime(seconds: now.seconds).adding(seconds: Int64(given) * 60)
        end = limit.flatMap { $0 > now && $0 < latest ? $0 : nil } ?? latest
    }
}
