import Accounts
import Console
import HTTPTypes
import ThreadCalls

/// The web listener: calls over HTTP/1.1, the console, and the public keys of access tokens, for whoever wants to verify
/// one.
struct WebHandler: HTTPRequestHandler {
    let accounts: Accounts
    let calls: RPCRequestHandler
    /// `nil` where there is none.
    let console: Console?
    let directory: ListenerDirectory

    func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
        if let console, Console.serves(head.target) { return console.begin(head) }
        if console != nil, head.target == "/", head.method == "GET" || head.method == "HEAD" {
            return .respond(HTTPResponse(status: 307, fields: ["Location": "/console/", "Cache-Control": "no-store"]))
        }
        if head.target == ListenerDirectory.path, head.method == "GET" || head.method == "HEAD" {
            return .respond(directory.response)
        }
        guard head.target.prefix(while: { $0 != "?" }) == "/.well-known/jwks.json" else {
            return calls.begin(head)
        }
        guard head.method == "GET" || head.method == "HEAD" else {
            return .respond(HTTPResponse(status: 405, fields: ["Allow": "GET, HEAD"]))
        }
        // A new key signs as soon as it is there: who keeps the keys asks again where a token names another.
        let fields: HTTPFields = [
            "Content-Type": "application/jwk-set+json", "Cache-Control": "public, max-age=300",
            "X-Content-Type-Options": "nosniff",
        ]
        return .respond(HTTPResponse(status: 200, fields: fields, body: .bytes(Array(accounts.publicKeys.utf8))))
    }
}
