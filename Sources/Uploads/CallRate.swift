import Accounts
import Basics
import Catalog
import GatewayAPI
import RPC

/// The limit on calls of a device, or of a site by its own keys, that write rows even if no upload results.
///
/// Quotas limit what an owner has at the same time; without a rate limit, the rows of uploads that are begun and aborted again
/// would grow as fast as the owner can call.
struct CallRate: Sendable {
    /// The factor for a site's key, which serves many devices at once.
    static let siteFactor = 10

    private let devices: Throttle
    private let sites: Throttle
    private let clock: any WallClock

    /// - Parameter perMinute: the limit for a device; above 0.
    init(perMinute: Int, clock: any WallClock) {
        devices = Throttle(perMinute: perMinute)
        sites = Throttle(perMinute: perMinute * Self.siteFactor)
        self.clock = clock
    }

    /// Counts a call.
    ///
    /// - Throws: RATE_LIMITED with the time to wait, after which clients retry.
    func admit(_ owner: ObjectOwner) throws(RPCError) {
        let wait =
            if let deviceID = owner.deviceID {
                devices.take(deviceID, at: clock.now())
            } else {
                sites.take(String(owner.siteID), at: clock.now())
            }
        guard let wait else { return }
        throw RPCError(
            .rateLimited, "too many calls start, restart or abort uploads: try again later",
            retryAfterMilliseconds: wait)
    }
}
