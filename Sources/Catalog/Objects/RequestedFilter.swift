import GatewayAPI
import ObjectFilters
import RPC
import TimeZones

/// The filter of a request, with the zone of its days.
struct RequestedFilter: Sendable {
    let filter: ObjectFilter
    let zone: TimeZoneRules

    /// - Throws: INVALID_ARGUMENT with the position of the first invalid byte, or if the time zone is unknown.
    init(_ text: String, timeZone: String = "", in zones: TimeZoneFolder) throws(RPCError) {
        zone = try FieldRules.timeZone(timeZone, in: zones)
        filter = try Self.parse(text)
    }

    /// - Throws: INVALID_ARGUMENT with the position of the first invalid byte.
    static func parse(_ text: String) throws(RPCError) -> ObjectFilter {
        do {
            return try FilterParser.parse(text)
        } catch {
            throw .invalidArgument("filter: \(error)")
        }
    }

    /// - Parameter now: the time to which ages and days refer, in seconds since 1970.
    func resolved(at now: Int64) -> ResolvedFilter { filter.resolved(at: now, in: zone) }
}
