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

    func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
        if let console, Console.serves(head.target) { return console.begin(head) }
        let response: HTTPResponse
        switch head.target.prefix(while: { $0 != "?" }) {
        case "/" where console != nil:
            response = HTTPResponse(status: 307, fields: ["Location": "/console/", "Cache-Control": "no-store"])
        case "/.well-known/jwks.json": response = publicKeys
        case "/openapi.json": response = description.document
        case "/reference": response = description.page
        default: return calls.begin(head)
        }
        guard head.method == "GET" || head.method == "HEAD" else {
            return .respond(HTTPResponse(status: 405, fields: ["Allow": "GET, HEAD"]))
        }
        return .respond(response)
    }

    private var publicKeys: HTTPResponse {
        // A new key signs at once: clients that cache the keys have to fetch them again when a token names an unknown key.
        let fields: HTTPFields = [
            "Content-Type": "application/jwk-set+json", "Cache-Control": "public, max-age=300",
            "X-Content-Type-Options": "nosniff",
        ]
        return HTTPResponse(status: 200, fields: fields, body: .bytes(Array(accounts.publicKeys.utf8)))
    }
}
