import Basics
package import Capability
import StoreClient
import StoreProtocol

/// The state of an engine in a bucket for its operators, at one moment.
package struct BucketHealth: Sendable, Equatable {
    package let bucket: String
    package let prefix: String
    package let ownership: PrefixOwnership
    /// The latest request that the store did not do; `nil` = none since the start.
    package let lastFailure: BucketActivity.Failure?
    /// The bytes of bodies on the local disk.
    package let spoolBytes: Int64
    package let spoolLimit: Int64
    /// Why nothing is removed; `nil` = the database and the bucket belong together.
    package let divergence: BucketState.Divergence?
}

/// The metrics of an engine in a bucket.
package struct BucketMetrics: MetricSource {
    private static let prefix = "data_gateway_object_engine"

    private let engine: S3Engine
    private let ownership: BucketActivity

    /// - Parameter ownership: the requests of the engine's ``PrefixOwner``.
    package init(_ engine: S3Engine, ownership: BucketActivity) {
        self.engine = engine
        self.ownership = ownership
    }

    package var health: BucketHealth {
        let configuration = engine.bucket.configuration
        let failures = [engine.bucket.activity.lastFailure, ownership.lastFailure].compactMap(\.self)
        return BucketHealth(
            bucket: configuration.bucket.name, prefix: configuration.prefix,
            ownership: engine.owner?.ownership ?? .held, lastFailure: failures.max { $0.at < $1.at },
            spoolBytes: engine.spool.usedBytes, spoolLimit: engine.spool.limit,
            divergence: engine.state.divergence)
    }

    package var families: [MetricFamily] {
        requests + transfers + local
    }

    private var requests: [MetricFamily] {
        let counts = (engine.bucket.activity.counts + ownership.counts).map { operation, counts in
            ([("operation", operation.rawValue)] as MetricLabels, counts)
        }
        return [
            .counter(
                "\(Self.prefix)_requests_total", "Requests to the bucket that ended, by operation and result.",
                counts.flatMap { labels, counts in
                    S3RequestResult.allCases.map { (labels + [("result", "\($0)")], counts.results[$0.rawValue]) }
                }),
            .histogram(
                "\(Self.prefix)_request_seconds",
                "Seconds for which the gateway waited for a response of the bucket, after the end of a streamed body.",
                counts.map { ($0, $1.durations) }),
        ]
    }

    private var transfers: [MetricFamily] {
        let bucket = engine.bucket
        return [
            .counter(
                "\(Self.prefix)_sent_bytes_total", "Bytes of bodies that were sent to the bucket.",
                [([], bucket.activity.sentBytes)]),
            .counter(
                "\(Self.prefix)_received_bytes_total", "Bytes of objects that were received from the bucket.",
                [([], bucket.activity.receivedBytes)]),
            .counter(
                "\(Self.prefix)_retries_total", "Requests that were repeated after a failure.",
                [([], bucket.budget.retryCount)]),
            .counter(
                "\(Self.prefix)_given_up_total",
                "Bodies and reads that failed, because their requests could not be repeated any more.",
                [([], bucket.budget.givenUpCount)]),
            .gauge(
                "\(Self.prefix)_connections", "Connections to the bucket that transfer objects now.",
                [([], bucket.transfers.exchanges)]),
            .gauge(
                "\(Self.prefix)_max_connections", "The most connections that transfer objects at a time.",
                [([], bucket.configuration.limits.connections)]),
        ]
    }

    private var local: [MetricFamily] {
        let health = health
        return [
            .gauge(
                "\(Self.prefix)_spool_bytes", "Bytes of bodies on the local disk.", [([], Int(health.spoolBytes))]),
            .gauge(
                "\(Self.prefix)_spool_limit_bytes", "The most bytes of bodies on the local disk.",
                [([], Int(health.spoolLimit))]),
            .counter(
                "\(Self.prefix)_spool_refusals_total", "Bodies that were refused because the local space was used up.",
                [([], engine.spool.refusalCount)]),
            .gauge(
                "\(Self.prefix)_ownership", "1 for the state of the right to the prefix, 0 for the others.",
                ["held", "unknown", "lost"].map { ([("state", $0)], $0 == health.ownership.word ? 1 : 0) }),
            .gauge(
                "\(Self.prefix)_removals_off",
                "1 if nothing is removed, because the database and the bucket do not belong together; 0 otherwise.",
                [([], health.divergence == nil ? 0 : 1)]),
            .gauge(
                "\(Self.prefix)_last_failure_timestamp_seconds",
                "Unix time in seconds of the latest request that the bucket did not do; 0 = none since the start.",
                [([], Int(health.lastFailure?.at.seconds ?? 0))]),
            .gauge(
                "\(Self.prefix)_info", "Always 1; the labels have the engine's kind, bucket and prefix.",
                [([("kind", "s3"), ("bucket", health.bucket), ("prefix", health.prefix)], 1)]),
        ]
    }
}

extension PrefixOwnership {
    /// The name of the state for programs.
    package var word: String {
        switch self {
        case .held: "held"
        case .unknown: "unknown"
        case .lost: "lost"
        }
    }
}
