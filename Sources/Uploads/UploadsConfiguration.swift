import Basics
package import ObjectStore
import StoreProtocol

/// The settings of uploads: part size, lifetimes, and limits.
package struct UploadsConfiguration: Sendable {
    /// The size of a part in bytes: a multiple of 4096, at least 65,536.
    package var partSize: Int64 = 67_108_864
    /// The lifetime of temporary credentials. Clients fetch new ones 40 s before they expire.
    package var credentialLifetime = Duration.hours(1)
    /// The time without activity after which an upload's session ends.
    package var sessionIdle = Duration.days(1)
    /// The time after which a session ends in any case.
    package var sessionTotal = Duration.days(7)
    /// The time after its session's end for which a complete object of parts waits for its CompleteUpload before the sweep removes
    /// it, since all of its bytes are stored.
    package var wholeObjectGrace = Duration.days(7)
    /// The limit of calls a minute that begin, restart, abort or reissue an upload, for one device; ten times as many for a site's
    /// own keys. 0 = no limit.
    package var callsPerMinute = 1200
    /// The time for which an ended upload can be queried.
    package var recordRetention = Duration.days(400)
    @Live package var quota = QuotaConfiguration()
    /// The bucket of new uploads; `^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`.
    package var bucket = "data"
    /// Buckets that are prefixes of ``bucket``.
    package var buckets: [StoreBucket] = []
    /// The keys of operators' own tools for ``bucket``.
    package var staticKeys: [StaticKey] = []
    /// The name of the store's protocol, which clients are told.
    package var backend = "oss"

    package init() {}
}

/// The error in a configuration of uploads.
package enum UploadsConfigurationError: Error, Sendable, CustomStringConvertible {
    case partSize(Int64)
    case bucket(String)

    package var description: String {
        switch self {
        case .partSize(let size): "the part size must be a multiple of 4096 and at least 65536 bytes, not \(size)"
        case .bucket(let name):
            "the bucket must be 3 to 63 of a-z, 0-9 and hyphens, and not begin or end with a hyphen, not \(name)"
        }
    }
}

extension UploadsConfiguration {
    func check() throws(UploadsConfigurationError) {
        guard partSize >= 65_536, partSize % 4096 == 0 else { throw .partSize(partSize) }
        guard ObjectName.isBucketOfOSS(bucket) else { throw .bucket(bucket) }
    }
}
