import Basics
package import Capability
package import HTTPServer
import HTTPTypes
import RPC
import Synchronization

/// The counters of the object store's requests, and of the bytes moved.
package final class StoreRequestMetrics: HTTPObserver, MetricSource {
    private struct Operation: Hashable {
        let dialect: String
        let name: String

        var labels: MetricLabels { [("dialect", dialect), ("operation", name)] }
    }

    private struct Counts {
        /// The number of requests by status; 0 stands for requests without a complete response.
        var statuses: [Int: Int] = [:]
        var bytesReceived: Int64 = 0
        var bytesSent: Int64 = 0
        var durations = Histogram()

        mutating func add(_ request: HTTPRequestRecord) {
            statuses[request.isWhole ? request.status ?? 0 : 0, default: 0] += 1
            bytesReceived += request.bytesReceived
            if request.isWhole { bytesSent += request.bytesSent }
            durations.add(nanoseconds: UInt64(clamping: request.duration.nanoseconds))
        }
    }

    private let counts = Lock<[Operation: Counts]>([:])

    package init() {}

    /// Counts a request; one that was refused before its operation was known is counted as `none`.
    package func ended(_ request: HTTPRequestRecord) {
        let operation = Operation(
            dialect: request.notes.dialect ?? "none", name: request.notes.operation ?? "none")
        counts.withLock { $0[operation, default: Counts()].add(request) }
    }

    package var families: [MetricFamily] {
        let all = counts.withLock { $0 }.map { ($0.labels, $1) }.sorted { "\($0.0)" < "\($1.0)" }
        return [
            .counter(
                "data_gateway_object_store_requests_total",
                "Requests that ended, by operation and HTTP status; broken_off = the client closed the connection.",
                all.flatMap { labels, counts in
                    counts.statuses.sorted { $0.key < $1.key }.map { status, count in
                        (labels + [("status", status == 0 ? "broken_off" : "\(status)")], count)
                    }
                }),
            .counter(
                "data_gateway_object_store_received_bytes_total", "Bytes of bodies that were received.",
                all.map { ($0, Int($1.bytesReceived)) }),
            .counter(
                "data_gateway_object_store_sent_bytes_total", "Bytes of bodies that were sent completely.",
                all.map { ($0, Int($1.bytesSent)) }),
            .histogram(
                "data_gateway_object_store_request_seconds",
                "Seconds from a request's header to the last byte of its response.",
                all.map { ($0, $1.durations) }),
        ]
    }
}
