import Catalog
import Database

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

    package init() {}

    /// Returns the exceeded limit as text for people; `nil` if the usage is within the limits.
    func excess(_ usage: Usage) -> String? {
        if bytes > 0, usage.bytes > bytes { return "\(bytes) stored bytes" }
        // Every upload in progress may become an object.
        if objects > 0, usage.objects + usage.uploads > objects { return "\(objects) objects" }
        return uploads > 0 && usage.uploads > uploads ? "\(uploads) uploads in progress" : nil
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
    /// Returns the limit that the owner, or the upload's site, would exceed; `nil` if none is exceeded.
    ///
    /// - Parameter change: the planned change of the usage.
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
