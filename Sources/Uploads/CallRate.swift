import Accounts
import Basics
import Catalog
import GatewayAPI
import RPC

/// How often a device, or a site by its own keys, may make calls that write rows whatever comes of its uploads.
///
/// Quotas bound what an owner has at a time; without a rate, rows of what it began and gave up again would grow as fast as
/// it can call.
struct CallRate: Sendable {
    /// A site's key serves many robots at once.
    static let siteFactor = 10

    private let devices: Throttle
    private let sites: Throttle
    private let clock: any WallClock

    /// - Parameter perMinute: calls of a device; above 0.
    init(perMinute: Int, clock: any WallClock) {
        devices = Throttle(perMinute: perMinute)
        sites = Throttle(perMinute: perMinute * Self.siteFactor)
        self.clock = clock
    }

    /// Counts a call.
    ///
    /// - Throws: RATE_LIMITED, with the time after which to try again; clients do.
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
