import AppSupport
import Basics
import GatewayAPI
import RPC
import Settings

/// The limits of the app.
struct ShareCodesConfiguration: Sendable {
    /// Lookups a minute from one address that find nothing, and checks of codes that are taken.
    var misses = 30
    /// Checks a minute from one address.
    var checks = 60
    /// Registrations a minute from one address.
    var registrations = 20
    /// Requests for a status a minute from one address.
    var statusRequests = 20
    /// Requests for a status an hour from one sender at one address.
    var statusRequestsOfSender = 60
    /// Records of collisions a minute from one address.
    var collisions = 60
    /// Claims of umids a minute from one address.
    var claims = 5
    /// Calls a minute with one token.
    var callsOfUmid = 120
    /// Codes of all umids that can be looked up.
    var liveCodes = 100_000
    /// Umids with a token.
    var umids = 1_000_000
    /// Stored requests for a status.
    var storedStatusRequests = 1_000_000
    /// The part of these three limits for one address, in percent.
    var percentOfAddress = 1
    /// Lists of received requests that wait at the same time.
    var waitingLists = 64
    /// The part of them for calls of one address.
    var waitingListsOfAddress = 8

    /// Codes of one umid that can be looked up.
    static let liveCodesOfUmid = 10
    /// Requests to one umid that were never delivered.
    static let newRequestsToUmid = 30
    /// Requests to one umid that are not answered.
    static let openRequestsToUmid = 300

    init() {}

    /// Reads the keys of `apps.share_codes`.
    init(_ settings: AppSettings) {
        let section = settings.section
        misses = section.rate("max_misses_per_minute", default: misses)
        checks = section.rate("max_checks_per_minute", default: checks)
        registrations = section.rate("max_registrations_per_minute", default: registrations)
        statusRequests = section.rate("max_status_requests_per_minute", default: statusRequests)
        statusRequestsOfSender = section.rate(
            "max_status_requests_of_sender_per_hour", default: statusRequestsOfSender)
        collisions = section.rate("max_collisions_per_minute", default: collisions)
        claims = section.rate("max_claims_per_minute", default: claims)
        liveCodes = section.count("max_codes", default: liveCodes, most: 10_000_000)
        umids = section.count("max_umids", default: umids, most: 100_000_000)
        storedStatusRequests = section.count(
            "max_status_requests", default: storedStatusRequests, most: 100_000_000)
        percentOfAddress = section.integer(
            "max_percent_of_address", default: percentOfAddress, in: 1...100, unit: "percent")
        waitingLists = section.count("max_waiting_calls", default: waitingLists, most: 10_000, least: 0)
        waitingListsOfAddress = max(1, waitingLists / 8)
    }
}

extension SettingsReader {
    fileprivate func rate(_ name: String, default standard: Int) -> Int {
        integer(name, default: standard, in: 1...1_000_000, unit: "calls")
    }

    fileprivate func count(_ name: String, default standard: Int, most: Int64, least: Int64 = 1) -> Int {
        integer(name, default: standard, in: least...most, unit: "entries")
    }
}

/// The rates at which addresses, senders and umids may call. Each address is normalized by `AddressRange.countedAsOne`.
final class ShareCodeLimits: Sendable {
    private let misses: Throttle
    private let checks: Throttle
    private let registrations: Throttle
    private let statusRequests: Throttle
    private let statusRequestsOfSender: Throttle
    private let collisions: Throttle
    private let claims: Throttle
    private let callsOfUmid: Throttle
    private let clock: any WallClock

    init(_ configuration: ShareCodesConfiguration, clock: any WallClock) {
        misses = Throttle(perMinute: configuration.misses)
        checks = Throttle(perMinute: configuration.checks)
        registrations = Throttle(perMinute: configuration.registrations)
        statusRequests = Throttle(perMinute: configuration.statusRequests)
        statusRequestsOfSender = Throttle(perHour: configuration.statusRequestsOfSender)
        collisions = Throttle(perMinute: configuration.collisions)
        claims = Throttle(perMinute: configuration.claims)
        callsOfUmid = Throttle(perMinute: configuration.callsOfUmid)
        self.clock = clock
    }

    /// Counts a search for a code as a miss in advance; ``giveBackMiss(of:)`` if the code was found.
    ///
    /// In advance, because many searches at the same time would otherwise all begin before the first of them is counted. A refused
    /// search does not tell whether the code is live, so that a walk through the codes learns nothing beyond the limit.
    func countMiss(of address: String) throws(RPCError) { try count(misses, address) }

    func giveBackMiss(of address: String) { misses.giveBack(address) }

    func countCheck(of address: String) throws(RPCError) { try count(checks, address) }

    func countRegistration(of address: String) throws(RPCError) { try count(registrations, address) }

    /// Counts by the address, and by the sender at the address: the sender is not proven, so that strangers who name somebody else
    /// must not use up the rate of that person.
    func countStatusRequest(from sender: String, of address: String) throws(RPCError) {
        try count(statusRequests, address)
        try count(statusRequestsOfSender, "\(address) \(sender)")
    }

    func countCollision(of address: String) throws(RPCError) { try count(collisions, address) }

    func countClaim(of address: String) throws(RPCError) { try count(claims, address) }

    func countCall(of umid: String) throws(RPCError) { try count(callsOfUmid, umid) }

    private func count(_ throttle: Throttle, _ key: String) throws(RPCError) {
        guard let wait = throttle.take(key, at: clock.now()) else { return }
        throw .rateLimited("too many requests: try again later", retryAfterMilliseconds: wait)
    }
}
