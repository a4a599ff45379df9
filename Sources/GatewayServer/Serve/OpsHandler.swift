import Capability
import HTTPTypes
import Observability
import RPC

/// The ops listener: liveness, readiness and metrics.
struct OpsHandler: HTTPRequestHandler {
    let readiness: Readiness
    let metrics: [any MetricSource]

    func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
        guard head.method == "GET" || head.method == "HEAD" else {
            return .respond(Self.text(405, "the HTTP method must be GET or HEAD\n", ["Allow": "GET, HEAD"]))
        }
        switch head.target.prefix(while: { $0 != "?" }) {
        case "/healthz":
            return .respond(Self.text(200, "ok\n"))
        case "/readyz":
            return .respond(readiness.isReady ? Self.text(200, "ready\n") : Self.text(503, readiness.reason))
        case "/metrics":
            let metrics = PrometheusText.render(metrics.flatMap(\.families))
            return .respond(Self.text(200, metrics, type: PrometheusText.mediaType))
        default:
            return .respond(Self.text(404, "the path must be /healthz, /readyz or /metrics\n"))
        }
    }

    private static func text(
        _ status: Int, _ text: String, _ extra: HTTPFields = [:], type: String = "text/plain"
    ) -> HTTPResponse {
        var fields = extra
        fields.append("Content-Type", "\(type); charset=utf-8")
        return HTTPResponse(status: status, fields: fields, body: .bytes(Array(text.utf8)))
    }
}
