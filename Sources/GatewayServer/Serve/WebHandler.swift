import Accounts
import Console
import HTTPTypes
import ThreadCalls

/// The web listener: calls over HTTP/1.1, the console, and the public keys for verifying access tokens.
struct WebHandler: HTTPRequestHandler {
    let accounts: Accounts
    let calls: RPCRequestHandler
    /// The console; `nil` if it is disabled.
    let console: Console?

    func begin(_ head: HTTPRequestHead) -> HTTPDisposition {
        if let console, Console.serves(head.target) { return console.begin(head) }
        guard head.target.prefix(while: { $0 != "?" }) == "/.well-known/jwks.json" else {
            return calls.begin(head)
        }
        guard head.method == "GET" || head.method == "HEAD" else {
            return .respond(HTTPResponse(status: 405, fields: ["Allow": "GET, HEAD"]))
        }
        // A new key signs at once: clients that cache the keys have to fetch them again when a token names an unknown key.
        let fields: HTTPFields = [
            "Content-Type": "application/jwk-set+json", "Cache-Control": "public, max-age=300",
            "X-Content-Type-Options": "nosniff",
        ]
        return .respond(HTTPResponse(status: 200, fields: fields, body: .bytes(Array(accounts.publicKeys.utf8))))
    }
}
