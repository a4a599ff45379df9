/// A property of a bucket that matters to an engine, as a sentence for its operator.
package struct BucketFinding: Sendable, Hashable, CustomStringConvertible {
    package enum Severity: String, Sendable, CaseIterable {
        /// Objects would be lost, or could not be stored or read: the gateway does not start.
        case refusal
        /// The engine works with a loss that the operator should know.
        case warning
        case fact
    }

    package let severity: Severity
    package let message: String

    package init(_ severity: Severity, _ message: String) {
        self.severity = severity
        self.message = message
    }

    package var description: String { "\(severity.rawValue): \(message)" }
}

/// The findings about a bucket, and what the engine may rely on.
package struct BucketReport: Sendable, Hashable {
    package internal(set) var findings: [BucketFinding] = []
    /// Whether the store honors `If-None-Match: *` and `If-Match` for PUT.
    package internal(set) var honorsConditions = false
    /// Whether it compares `If-Match` with an ETag without quotes only, unlike RFC 9110, section 13.1.1.
    package internal(set) var comparesBareTags = false
    /// Whether the ETag of a plain PUT is the MD5 of its bytes.
    package internal(set) var hasMD5ETags = false
    /// Whether a request can remove 1,000 objects.
    package internal(set) var removesMany = false
    /// The time by which the store's clock is ahead of this machine's, at least; `nil` if the store does not report it.
    package internal(set) var clockDifference: Duration?

    init() {}

    /// Makes the report of a bucket without findings.
    package init(honorsConditions: Bool, hasMD5ETags: Bool, removesMany: Bool = true) {
        self.honorsConditions = honorsConditions
        self.hasMD5ETags = hasMD5ETags
        self.removesMany = removesMany
    }

    /// Whether the gateway must not use the bucket.
    package var isRefused: Bool { findings.contains { $0.severity == .refusal } }
}
