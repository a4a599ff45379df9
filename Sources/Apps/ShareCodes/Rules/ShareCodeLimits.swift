import Basics
import GatewayAPI
import RPC

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
