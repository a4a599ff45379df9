import Accounts
import Basics
import Catalog
import Database
import GatewayAPI
import RPC

/// The usage of a device, or of a site with all its devices.
struct Usage: Sendable, Hashable {
    /// The bytes of stored objects and of parts of unfinished uploads.
    var bytes: Int64 = 0
    /// The number of verified objects.
    var objects: Int64 = 0
    /// The number of uploads that are neither completed nor aborted nor swept.
    var uploads: Int64 = 0
}

/// The limits of a usage; 0 = no limit.
package struct QuotaLimits: Sendable, Hashable {
    package var bytes: Int64 = 0
    package var objects: Int64 = 0
    package var uploads: Int64 = 0

    package init(bytes: Int64 = 0) {
        self.bytes = bytes
    }

    /// Returns the exceeded limit and its setting as text for people; `nil` if the usage is within the limits.
    ///
    /// - Parameter owner: what the limits are for, as in the names of the settings.
    func excess(_ usage: Usage, of owner: String) -> String? {
        if bytes > 0, usage.bytes > bytes {
            return "the \(owner) may have at most \(bytes) stored bytes (quota.\(owner)_bytes)"
        }
        // Every upload in progress may become an object.
        if objects > 0, usage.objects + usage.uploads > objects {
            return "the \(owner) may have at most \(objects) objects (quota.\(owner)_objects)"
        }
        guard uploads > 0, usage.uploads > uploads else { return nil }
        return "the \(owner) may have at most \(uploads) uploads in progress (quota.\(owner)_uploads)"
    }
}

/// The limits for each device and for each site.
package struct QuotaConfiguration: Sendable, Hashable {
    package var device = QuotaLimits()
    package var site = QuotaLimits()

    package init() {
        device.uploads = 10_000
    }
}

extension QuotaConfiguration {
    /// Whether stored bytes are limited.
    var limitsBytes: Bool { device.bytes > 0 || site.bytes > 0 }

    /// The same limits on bytes, and no others.
    var ofBytes: QuotaConfiguration {
        var limits = QuotaConfiguration()
        limits.device = QuotaLimits(bytes: device.bytes)
        limits.site = QuotaLimits(bytes: site.bytes)
        return limits
    }

    /// Returns the limit that the owner, or the upload's site, would exceed; `nil` if none is exceeded.
    ///
    /// - Parameter change: the planned change of the usage.
    func excess(
        of owner: ObjectOwner, in connection: ReadConnection, after change: (inout Usage) -> Void
    ) throws -> String? {
        let records = UsageRecords(connection)
        if let deviceID = owner.deviceID, device != QuotaLimits() {
            var usage = try records.usage(device: deviceID)
            change(&usage)
            if let excess = device.excess(usage, of: "device") { return excess }
        }
        guard site != QuotaLimits() else { return nil }
        var usage = try records.usage(site: owner.siteID)
        change(&usage)
        return site.excess(usage, of: "site")
    }
}

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
