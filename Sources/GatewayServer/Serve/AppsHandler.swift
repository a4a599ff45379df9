import HTTPTypes
import ThreadCalls

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
