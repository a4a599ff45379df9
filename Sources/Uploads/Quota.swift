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
