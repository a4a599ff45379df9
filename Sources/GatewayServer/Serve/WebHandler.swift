import Accounts
import Console
import HTTPTypes
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
