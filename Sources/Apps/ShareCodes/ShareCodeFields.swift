import Basics
import RPC

/// The rules for fields of requests. Names of fields are those of the JSON.
enum ShareCodeFields {
    /// The largest length of data that apps encrypt, in bytes of UTF-8.
    static let longestData = 16 * 1024
    private static let longestID = 128
    private static let longestMessage = 500

    /// Checks a umid, or another id that apps make: 1 to 128 of `A-Z a-z 0-9 . _ -`.
    @discardableResult
    static func id(_ text: String, field: String) throws(RPCError) -> String {
        guard (1...longestID).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0.isASCIIAlphanumeric || "._-".utf8.contains($0) })
        else { throw .invalid(field, "must be 1 to \(longestID) letters, digits or . _ -") }
        return text
    }

    /// Checks data that an app encrypted: 1 byte to 16 KiB of text.
    static func data(_ text: String) throws(RPCError) -> String {
        guard (1...longestData).contains(text.utf8.count) else {
            throw .invalid("encryptedData", "must be 1 to \(longestData) bytes")
        }
        return text
    }

    /// Checks the message of a request: at most 500 characters, counted as Unicode scalars.
    static func message(_ text: String) throws(RPCError) -> String {
        guard text.unicodeScalars.count <= longestMessage else {
            throw .invalid("message", "must be at most \(longestMessage) characters")
        }
        return text
    }

    /// Returns the time of a field in RFC 3339; `nil` if it is empty.
    static func time(_ text: String, field: String) throws(RPCError) -> UnixTime? {
        if text.isEmpty { return nil }
        guard let time = RFC3339.parse(text) else {
            throw .invalid(field, "must be a time of RFC 3339 such as 2026-01-31T08:00:00Z")
        }
        return time.roundedUp
    }
}

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
