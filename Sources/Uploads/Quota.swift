import Catalog
import Database

/// What a device, or a site with all its devices, has at the gateway.
struct Usage: Sendable, Hashable {
    /// Stored, and of parts under way.
    var bytes: Int64 = 0
    /// Verified.
    var objects: Int64 = 0
    /// Neither completed nor given up nor swept.
    var uploads: Int64 = 0
}

/// How much of it one may have; 0 = as much as one likes.
package struct QuotaLimits: Sendable, Hashable {
    package var bytes: Int64 = 0
    package var objects: Int64 = 0
    package var uploads: Int64 = 0

    package init() {}

    /// What would be too much, in words for people; `nil` where there is room.
    func excess(_ usage: Usage) -> String? {
        if bytes > 0, usage.bytes > bytes { return "\(bytes) stored bytes" }
        // Every upload may come to be an object.
        if objects > 0, usage.objects + usage.uploads > objects { return "\(objects) objects" }
        return uploads > 0 && usage.uploads > uploads ? "\(uploads) uploads in progress" : nil
    }
}

/// The limits of every device and of every site.
package struct QuotaConfiguration: Sendable, Hashable {
    package var device = QuotaLimits()
    package var site = QuotaLimits()

    package init() {
        device.uploads = 10_000
    }
}

extension QuotaConfiguration {
    /// What the owner, or the site where the upload belongs, would have too much of; `nil` where there is room.
    ///
    /// - Parameter change: what is about to come to its usage.
    func excess(of owner: ObjectOwner, in connection: Connection, after change: (inout Usage) -> Void) throws -> String?
    {
        let records = UsageRecords(connection)
        if let deviceID = owner.deviceID, device != QuotaLimits() {
            var usage = try records.usage(device: deviceID)
            change(&usage)
            if let excess = device.excess(usage) { return "the device may have at most \(excess)" }
        }
        guard site != QuotaLimits() else { return nil }
        var usage = try records.usage(site: owner.siteID)
        change(&usage)
        return site.excess(usage).map { "the site may have at most \($0)" }
    }
}
