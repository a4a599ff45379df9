import HTTPTypes
import ThreadCalls

/// The listener for apps: their calls, and the description of these.
struct AppsHandler: HTTPRequestHandler {
    let calls: RPCRequestHandler
    let description: APIDescription

    func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
        let response: HTTPResponse
        switch head.target.prefix(while: { $0 != "?" }) {
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
