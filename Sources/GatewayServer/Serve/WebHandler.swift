import Accounts
import Console
import HTTPTypes
import ThreadCalls

/// The web listener: calls over HTTP/1.1, the console, the description of the calls, and the public keys of access tokens, for
/// whoever wants to verify one.
struct WebHandler: HTTPRequestHandler {
    let accounts: Accounts
    let calls: RPCRequestHandler
    let description: APIDescription
    /// `nil` where there is none.
    let console: Console?

    func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
        if let console, Console.serves(head.target) { return console.begin(head) }
        let response: HTTPResponse
        switch head.target.prefix(while: { $0 != "?" }) {
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
        // A new key signs as soon as it is there: who keeps the keys asks again where a token names another.
        let fields: HTTPFields = [
            "Content-Type": "application/jwk-set+json", "Cache-Control": "public, max-age=300",
            "X-Content-Type-Options": "nosniff",
        ]
        return HTTPResponse(status: 200, fields: fields, body: .bytes(Array(accounts.publicKeys.utf8)))
    }
}
