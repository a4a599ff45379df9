import CopyJobs
import ObjectStore
import Observability
import StoreProtocol

extension Configuration {
    private enum DestinationKind: String, CaseIterable {
        case directory
        case oss
        case s3
    }

    /// Reads the section `copy`: the destinations of copy jobs, and their limits.
    static func copies(_ reader: inout ConfigurationReader) throws(ConfigurationError) -> CopyJobsConfiguration {
        var copies = CopyJobsConfiguration()
        copies.workers = Int(
            try reader.integer("copy.workers", default: Int64(copies.workers), in: 1...64, unit: "items"))
        copies.items = Int(
            try reader.integer("copy.max_items", default: Int64(copies.items), in: 1...10_000, unit: "items"))
        copies.jobs = Int(
            try reader.integer("copy.max_jobs", default: Int64(copies.jobs), in: 1...10_000, unit: "jobs"))
        copies.patience = try reader.duration("copy.retry_seconds", default: copies.patience, in: 0...604_800)
        copies.retention = try reader.duration(
            "copy.retention_days", default: copies.retention, in: 1...3650, unit: .days)
        for var entry in try reader.entries("copy.destinations") {
            copies.destinations.append(try destination(&entry))
            try entry.finish()
        }
        return copies
    }

    private static func destination(_ entry: inout ConfigurationEntry) throws(ConfigurationError) -> CopyTarget {
        let organizations = try entry.texts("organizations")
        if organizations?.isEmpty == true { throw entry.wrong("organizations", "must name at least one organization") }
        switch try entry.choice("kind", as: DestinationKind.self) {
        case .directory: return .folder(try folder(&entry), organizations: organizations)
        case .oss: return .bucket(try bucket(&entry, .oss), organizations: organizations)
        case .s3: return .bucket(try bucket(&entry, .s3), organizations: organizations)
        }
    }

    /// Reads a folder of this machine.
    static func folder(_ entry: inout ConfigurationEntry) throws(ConfigurationError) -> FolderTarget {
        let root = try entry.text("root")
        guard root.hasPrefix("/"), !root.hasSuffix("/") else {
            throw entry.wrong("root", "must be an absolute path that does not end with a slash")
        }
        return FolderTarget(root: root)
    }

    /// Reads a bucket of an object store.
    static func bucket(
        _ entry: inout ConfigurationEntry, _ dialect: ClientRequest.Dialect
    ) throws(ConfigurationError) -> BucketTarget {
        let text = try entry.text("endpoint")
        let endpoint: StoreEndpoint
        do {
            endpoint = try StoreEndpoint(text)
        } catch {
            throw entry.wrong("endpoint", "is not valid: \(error)")
        }
        let bucket = try entry.text("bucket")
        guard ObjectName.isBucket(bucket) else {
            throw entry.wrong("bucket", "must be 3 to 63 of a-z, 0-9 and hyphens, and not begin or end with a hyphen")
        }
        let authorities = try entry.text("authorities", default: "")
        return BucketTarget(
            BucketLocation(
                endpoint: endpoint, bucket: bucket,
                region: try entry.text("region", default: dialect == .s3 ? "us-east-1" : endpoint.region)),
            dialect: dialect,
            credentials: SigningCredentials(
                accessKeyID: try entry.text("access_key_id"), secret: try entry.secretSource().secret(least: 1)),
            partSize: try entry.integer(
                "part_size_bytes", default: 67_108_864, in: 5_242_880...5_368_709_120, unit: "bytes"),
            authorities: authorities.isEmpty ? nil : authorities)
    }
}
