import Accounts
import Basics
import Capability
import HTTPTypes
import Observability
import Proto
import RPC
import Synchronization
import Wire

/// The description of a listener's REST calls: the OpenAPI document, and the reference page.
final class APIDescription: Sendable {
    private let server: RPCServer
    private let access: AccessTable
    private let about: OpenAPIDocument.About
    /// The comments of the files: on each line a full name, a tab and the text.
    private let comments: String
    private let rules: [String: ValueRule]
    /// Made at the first request: most gateways never need them.
    private let made = Lock<(document: [UInt8], page: [UInt8])?>(nil)

    /// - Parameters:
    ///   - access: the callers for the listener's methods.
    ///   - comments: those of the files that declare the listener's methods.
    init(
        _ server: RPCServer, access: AccessTable, about: OpenAPIDocument.About = .gateway,
        comments: String = ProtoFiles.comments, rules: [String: ValueRule] = OpenAPIDocument.gatewayRules
    ) {
        self.server = server
        self.access = access
        self.about = about
        self.comments = comments
        self.rules = rules
    }

    var document: HTTPResponse {
        let fields: HTTPFields = [
            "Content-Type": "application/json", "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff",
        ]
        return HTTPResponse(status: 200, fields: fields, body: .bytes(texts.document))
    }

    var page: HTTPResponse {
        let fields: HTTPFields = [
            "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache",
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy":
                "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ]
        return HTTPResponse(status: 200, fields: fields, body: .bytes(texts.page))
    }

    private var texts: (document: [UInt8], page: [UInt8]) {
        made.withLock { made in
            if let made { return made }
            guard let schema = server.json?.schema else { return ([], []) }
            let routes = server.router.httpRoutes
            let paths = routes.map(\.method.path).filter { access.access(to: $0) == .anyone }
            let document = OpenAPIDocument(
                about, routes: routes, schema: schema, comments: comments, open: Set(paths), rules: rules)
            let texts = (document.json, document.page)
            made = texts
            return texts
        }
    }
}

extension OpenAPIDocument.About {
    static let gateway = OpenAPIDocument.About(
        title: "data-gateway", version: ProgramVersion.current,
        description: "Uploads of devices, stored objects, and what administrators do to them.")
    static let apps = OpenAPIDocument.About(
        title: "data-gateway apps", version: ProgramVersion.current,
        description: "The calls of the apps that this server has enabled.")
}
