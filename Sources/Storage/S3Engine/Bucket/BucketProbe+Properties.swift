import Basics
import StoreClient
import StoreProtocol

/// The properties of a bucket that remove objects, or keep them from being removed.
extension BucketProbe {
    /// Actions of a lifecycle rule that leave current objects as they are.
    private static let harmless: Set = [
        "AbortIncompleteMultipartUpload", "ExpiredObjectDeleteMarker", "NoncurrentVersionExpiration",
        "NoncurrentVersionTransition",
    ]

    mutating func examineProperties() async throws {
        let versioning = try await attempt(
            "read the bucket's versioning", right: "s3:GetBucketVersioning", isRequired: false
        ) { try await $0.versioning() }
        let rules = try await attempt(
            "read the bucket's lifecycle rules", right: "s3:GetLifecycleConfiguration", isRequired: false
        ) { try await $0.lifecycleRules() }
        let lock = try await attempt(
            "read the bucket's object lock", right: "s3:GetBucketObjectLockConfiguration", isRequired: false
        ) { try await $0.objectLock() }
        let applied = ((rules ?? nil) ?? []).filter { $0.isEnabled && applies($0) }
        if let versioning = versioning ?? nil { examine(versioning, applied) }
        for rule in applied { examine(rule) }
        if let lock = lock ?? nil { examine(lock) }
    }

    /// Whether a rule applies to keys below the prefix. The engine's objects have no tags.
    private func applies(_ rule: S3LifecycleRule) -> Bool {
        !rule.hasTags
            && (configuration.prefix.utf8.starts(with: rule.prefix.utf8)
                || rule.prefix.utf8.starts(with: configuration.prefix.utf8))
    }

    private mutating func examine(_ versioning: S3Versioning, _ rules: [S3LifecycleRule]) {
        switch versioning {
        case .off: break
        case .enabled where rules.contains { $0.actions.contains("NoncurrentVersionExpiration") }:
            add(
                .warning,
                "Versioning is enabled: the space of removed objects is free only when the bucket's lifecycle rule expires "
                    + "noncurrent versions.")
        case .enabled:
            add(
                .refusal,
                "Versioning is enabled: a removal frees no space. Suspend it, or add a lifecycle rule with "
                    + "NoncurrentVersionExpiration for the prefix \"\(configuration.prefix)\".")
        case .suspended:
            add(
                .warning,
                "Versioning is suspended: versions of the time before still take space. Remove them, or add a lifecycle "
                    + "rule with NoncurrentVersionExpiration for the prefix \"\(configuration.prefix)\".")
        }
    }

    private mutating func examine(_ rule: S3LifecycleRule) {
        let harmful = rule.actions.filter { !Self.harmless.contains($0) }
        guard !harmful.isEmpty else { return }
        let id = rule.id.isEmpty ? "without an ID" : "\"\(rule.id)\""
        let prefix = rule.prefix.isEmpty ? "all keys" : "keys that begin with \"\(rule.prefix)\""
        add(
            .refusal,
            "The lifecycle rule \(id) (\(harmful.joined(separator: ", "))) applies to \(prefix): it would remove or archive "
                + "objects without the gateway. Remove it, or restrict it to other keys.")
    }

    private mutating func examine(_ lock: S3ObjectLock) {
        guard lock.isEnabled else { return }
        guard lock.hasRule else {
            return add(
                .warning,
                "Object lock is enabled: objects that somebody locks cannot be removed, and their space is not freed.")
        }
        add(
            .refusal,
            "The bucket's object lock protects each new object by a default retention: removals would fail. Remove the "
                + "default retention, or use another bucket.")
    }
}
