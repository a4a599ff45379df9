package import Basics
package import Capability
package import RPC
package import Wire

/// The counters of listeners: connections, calls with the names of gRPC's metrics libraries, limits.
package struct ListenerMetrics: MetricSource {
    package struct Listener: Sendable {
        /// The listener's name.
        let name: String
        let metrics: ServerMetrics
        /// The counters of the connections' limits, if `metrics` counts only calls.
        let daemon: ServerMetrics?
        /// The methods of the listener.
        let methods: [(descriptor: MethodDescriptor, metrics: MethodMetrics)]

        package init(
            name: String, metrics: ServerMetrics, daemon: ServerMetrics? = nil,
            methods: [(descriptor: MethodDescriptor, metrics: MethodMetrics)] = []
        ) {
            self.name = name
            self.metrics = metrics
            self.daemon = daemon
            self.methods = methods
        }
    }

    /// The label `listener` of limits that all listeners share.
    private static let all = "all"

    private let listeners: [Listener]
    private let shared: LimitCounts

    /// - Parameter shared: the counts of limits that all listeners share.
    package init(listeners: [Listener], shared: LimitCounts = LimitCounts()) {
        self.listeners = listeners
        self.shared = shared
    }

    package var families: [MetricFamily] {
        let snapshots = listeners.map { ([("listener", $0.name)], $0.metrics.snapshot) }
        let connections: [MetricFamily] = [
            .gauge(
                "data_gateway_connections", "Open connections; for the web listener, requests in progress.",
                snapshots.map { ($0, $1.connectionsOpen) }),
            .counter(
                "data_gateway_connections_accepted_total",
                "Accepted connections; for the web listener, requests.",
                snapshots.map { ($0, $1.connectionsAccepted) }),
            .gauge(
                "data_gateway_handlers", "Calls whose handler is running.", snapshots.map { ($0, $1.handlers) }),
            .gauge(
                "data_gateway_waiting_calls", "Calls in progress of methods that wait, such as Health.Watch.",
                snapshots.map { ($0, $1.waitingCalls) }),
            .gauge(
                "data_gateway_response_bytes", "Bytes of responses that are waiting for their clients.",
                snapshots.map { ($0, $1.responseBytes) }),
            .counter(
                "data_gateway_limits_reached_total",
                "Refused or closed calls and connections by the limit that they reached.",
                (listeners.map { ($0.name, $0.limits) } + [(Self.all, shared.all)]).flatMap { name, limits in
                    limits.sorted { $0.key < $1.key }.map { ([("listener", name), ("limit", $0)], $1) }
                }),
            .counter(
                "data_gateway_requests_refused_total", "Requests that were not a call of a method, by reason.",
                snapshots.flatMap { listener, snapshot in
                    RefusedRequest.Reason.allCases.map {
                        (listener + [("reason", $0.rawValue)], snapshot.refused[$0] ?? 0)
                    }
                }),
        ]
        return connections + calls
    }

    /// The counters of calls, with the names and labels of go-grpc-prometheus and the listener. Every registered method has its
    /// counters from the start, so that a rate includes its first call.
    private var calls: [MetricFamily] {
        let methods = listeners.flatMap { listener in
            listener.methods.map { method in
                let labels = [("listener", listener.name)] + method.descriptor.labels
                return (labels: labels, counts: method.metrics.snapshot)
            }
        }
        return [
            .counter(
                "grpc_server_started_total", "Calls that were received.", methods.map { ($0.labels, $0.counts.started) }
            ),
            .counter(
                "grpc_server_handled_total", "Calls that ended, by status.",
                methods.flatMap { method in
                    StatusCode.allCases.compactMap { code in
                        let count = method.counts.ended[code.rawValue]
                        guard count > 0 || code == .ok else { return nil }
                        return (method.labels + [("grpc_code", code.name)], count)
                    }
                }),
            .counter(
                "grpc_server_msg_received_total", "Messages that were received.",
                methods.map { ($0.labels, $0.counts.messagesReceived) }),
            .counter(
                "grpc_server_msg_sent_total", "Messages that were sent.",
                methods.map { ($0.labels, $0.counts.messagesSent) }),
            .histogram(
                "grpc_server_handling_seconds", "Seconds from a call's header section to its status.",
                methods.filter { $0.counts.durations.count > 0 }.map { ($0.labels, $0.counts.durations) }),
        ]
    }
}

extension ListenerMetrics.Listener {
    /// The number of times that each limit was reached.
    fileprivate var limits: [String: Int] {
        metrics.snapshot.limits.merging(daemon?.snapshot.limits ?? [:], uniquingKeysWith: +)
    }
}

extension MethodDescriptor {
    fileprivate var labels: MetricLabels {
        let type =
            switch kind {
            case .unary: "unary"
            case .clientStreaming: "client_stream"
            case .serverStreaming: "server_stream"
            case .bidirectionalStreaming: "bidi_stream"
            }
        return [("grpc_type", type), ("grpc_service", service), ("grpc_method", name)]
    }
}
