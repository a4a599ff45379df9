import Network
import RPC

/// The ops listener: whether the process lives, and whether it takes calls.
struct OpsHandler: HTTPRequestHandler {
    let state: ServingState

    func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
        guard head.method == "GET" || head.method == "HEAD" else {
            return .respond(Self.text(405, "method not allowed", ["Allow": "GET, HEAD"]))
        }
        switch head.target.prefix(while: { $0 != "?" }) {
        case "/healthz":
            return .respond(Self.text(200, "ok"))
        case "/readyz":
            return .respond(state.isServing ? Self.text(200, "ready") : Self.text(503, "draining"))
        default:
            return .respond(Self.text(404, "there is /healthz and /readyz"))
        }
    }

    private static func text(_ status: Int, _ line: String, _ extra: HTTPFields = [:]) -> HTTPResponse {
        var fields = extra
        fields.append("Content-Type", "text/plain; charset=utf-8")
        return HTTPResponse(status: status, fields: fields, body: .bytes(Array("\(line)\n".utf8)))
    }
}
