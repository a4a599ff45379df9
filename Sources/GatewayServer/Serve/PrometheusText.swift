import Catalog
import RPC

/// What listeners, sweeps and the scrubber counted, in Prometheus' text format (version 0.0.4).
enum PrometheusText {
    private typealias Sample = (labels: String, value: Int)

    /// - Parameter metrics: each listener's, by its name.
    static func render(
        _ metrics: [(listener: String, metrics: ServerMetrics)], _ sweeps: SweepMetrics, _ scrub: ScrubMetrics
    ) -> String {
        let snapshots = metrics.map { ("listener=\"\($0.listener)\"", $0.metrics.snapshot) }
        var text = ""
        func family(_ name: String, _ kind: String, _ help: String, _ samples: [Sample]) {
            text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
            for sample in samples { text += "\(name){\(sample.labels)} \(sample.value)\n" }
        }
        family(
            "data_gateway_connections", "gauge", "Connections that are open; of the web listener, requests.",
            snapshots.map { ($0, $1.connectionsOpen) })
        family(
            "data_gateway_connections_accepted_total", "counter",
            "Connections that were accepted; of the web listener, requests.",
            snapshots.map { ($0, $1.connectionsAccepted) })
        family(
            "data_gateway_handlers", "gauge", "Calls whose handler runs or waits.",
            snapshots.map { ($0, $1.handlers) })
        family(
            "grpc_server_handled_total", "counter", "Calls that ended, by status.",
            snapshots.flatMap { listener, snapshot in
                snapshot.calls.sorted { $0.key.rawValue < $1.key.rawValue }.map { code, count in
                    ("\(listener),grpc_code=\"\(code.name)\"", count)
                }
            })
        family(
            "data_gateway_limits_reached_total", "counter",
            "How often a client was refused or cut off because it reached a limit.",
            snapshots.flatMap { listener, snapshot in
                snapshot.limits.sorted { $0.key < $1.key }.map { limit, count in
                    ("\(listener),limit=\"\(limit)\"", count)
                }
            })
        let swept = sweeps.snapshot
        family(
            "data_gateway_swept_total", "counter", "Uploads, objects and files that were removed when their time came.",
            swept.map { ("kind=\"\($0.rawValue)\"", $1.swept) })
        family(
            "data_gateway_sweep_failures_total", "counter", "Sweeps that ended with an error, which the log tells.",
            swept.map { ("kind=\"\($0.rawValue)\"", $1.failures) })
        let scrub = scrub.snapshot
        family(
            "data_gateway_scrubbed_bytes_total", "counter", "Bytes of objects that were read again.",
            [("", scrub.bytes)])
        family("data_gateway_scrubbed_objects_total", "counter", "Objects that were read again.", [("", scrub.objects)])
        family("data_gateway_scrub_passes_total", "counter", "Passes over all objects.", [("", scrub.passes)])
        family(
            "data_gateway_scrub_failures_total", "counter", "Passes that ended with an error, which the log tells.",
            [("", scrub.failures)])
        family(
            "data_gateway_bad_objects", "gauge", "Objects whose bytes are no more what was verified.",
            [("", scrub.bad)])
        return text
    }
}
