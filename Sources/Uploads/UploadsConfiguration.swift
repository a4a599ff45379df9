import Basics
import StoreProtocol

/// How uploads are opened, and how long they live.
package struct UploadsConfiguration: Sendable {
    /// Bytes of a part: a multiple of 4096, at least 65,536.
    package var partSize: Int64 = 67_108_864
    /// How long temporary credentials hold. Clients fetch new ones 40 s before their end.
    package var credentialLifetime = Duration.hours(1)
    /// The time without activity after which an upload's session ends.
    package var sessionIdle = Duration.days(1)
    /// The time after which it ends in any case.
    package var sessionTotal = Duration.days(7)
    /// How long past its session's end an object made of parts waits for its CompleteUpload before the sweep
    /// takes it: every byte of it is here.
    package var wholeObjectGrace = Duration.days(7)
    /// Calls that begin, restart, give up or reissue an upload, which one device may make in a minute; a site's own keys may
    /// make ten times as many. 0 = as many as one likes.
    package var callsPerMinute = 1200
    /// How long an upload that has ended can be asked for.
    package var recordRetention = Duration.days(400)
    @Live package var quota = QuotaConfiguration()
    /// `^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`.
    package var bucket = "data"
    /// What clients are told that they speak to.
    package var backend = "oss"

    package init() {}
}

/// A configuration that uploads cannot be opened with.
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
        guard ObjectName.isBucket(bucket) else { throw .bucket(bucket) }
    }
}
