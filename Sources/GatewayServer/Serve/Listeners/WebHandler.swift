import Accounts
import Capability
import Console
import HTTPTypes
import Observability
import RPC
import ThreadCalls

/// The web listener: calls over HTTP/1.1, the console, the description of the calls, and the public keys for verifying access
/// tokens.
struct WebHandler: HTTPRequestHandler {
    let accounts: Accounts
    let calls: RPCRequestHandler
    let description: APIDescription
    /// The console; `nil` if it is disabled.
    let console: Console?
    let directory: ListenerDirectory

    func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
        if let console, Console.serves(head.target) { return console.begin(head) }
        let isRead = head.method == "GET" || head.method == "HEAD"
        let response: HTTPResponse
        switch head.target.prefix(while: { $0 != "?" }) {
        case "/" where console != nil && isRead:
            response = HTTPResponse(status: 307, fields: ["Location": "/console/", "Cache-Control": "no-store"])
        case ListenerDirectory.path: response = directory.response
        case PublicKeys.path: response = PublicKeys(accounts: accounts).response
        case "/openapi.json": response = description.document
        case "/reference": response = description.page
        default: return calls.begin(head)
        }
        guard isRead else {
            return .respond(HTTPResponse(status: 405, fields: ["Allow": "GET, HEAD"]))
        }
        return .respond(response)
    }
}

/// The listener for apps: their calls, the description of these, and the keys that verify the tokens of their users.
struct AppsHandler: HTTPRequestHandler {
    let calls: RPCRequestHandler
    let description: APIDescription
    /// `nil` if no app issues access tokens.
    let publicKeys: PublicKeys?

    func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
        let response: HTTPResponse
        switch head.target.prefix(while: { $0 != "?" }) {
        case PublicKeys.path:
            guard let publicKeys else { return calls.begin(head) }
            response = publicKeys.response
        case "/openapi.json": response = description.document
        case "/reference": response = description.page
        default: return calls.begin(head)
        }
        guard head.method == "GET" || head.method == "HEAD" else {
            return .respond(HTTPResponse(status: 405, fields: ["Allow": "GET, HEAD"]))
        }
        return .respond(response)
    }
}

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
            return .respond(Self.report(readiness.problem))
        case "/readyz/object-store":
            return .respond(Self.report(readiness.objectStoreProblem))
        case "/metrics":
            let metrics = PrometheusText.render(metrics.flatMap(\.families))
            return .respond(Self.text(200, metrics, type: PrometheusText.mediaType))
        default:
            return .respond(Self.text(404, "the path must be /healthz, /readyz, /readyz/object-store or /metrics\n"))
        }
    }

    private static func report(_ problem: String?) -> HTTPResponse {
        text(problem == nil ? 200 : 503, "\(problem ?? "ready")\n")
    }

    private static func text(
        _ status: Int, _ text: String, _ extra: HTTPFields = [:], type: String = "text/plain"
    ) -> HTTPResponse {
        var fields = extra
        fields.append("Content-Type", "\(type); charset=utf-8")
        return HTTPResponse(status: status, fields: fields, body: .bytes(Array(text.utf8)))
    }
}

/// The public keys for verifying access tokens, as a JWK Set (RFC 7517, section 5).
struct PublicKeys: Sendable {
    static let path = "/.well-known/jwks.json"

    let accounts: Accounts

    var response: HTTPResponse {
        // A new key signs at once: clients that cache the keys have to fetch them again when a token names an unknown key.
        let fields: HTTPFields = [
            "Content-Type": "application/jwk-set+json", "Cache-Control": "public, max-age=300",
            "X-Content-Type-Options": "nosniff",
        ]
        return HTTPResponse(status: 200, fields: fields, body: .bytes(Array(accounts.publicKeys.utf8)))
    }
}
