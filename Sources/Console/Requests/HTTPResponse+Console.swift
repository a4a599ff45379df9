import FoundationEssentials
import GRPCWire
import HTTPTypes

extension HTTPResponse {
    /// The permissions of a page (CSP Level 3): the console's own scripts, styles and requests, and nothing else. It may not be
    /// framed, submits no forms, and inserts no text that could be interpreted as markup.
    private static let contentPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "media-src 'self'",
        "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ].joined(separator: "; ")

    /// Returns a response of the console, which is not cached and whose content type is not guessed.
    static func console(_ status: Int, _ fields: HTTPFields = [:], body: Body = .bytes([])) -> HTTPResponse {
        HTTPResponse(status: status, fields: fields, body: body).securedForConsole
    }

    static func console(json value: some Encodable) -> HTTPResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let json = try? encoder.encode(value) else { return .refusal(.failure) }
        return .console(200, ["Content-Type": "application/json"], body: .bytes(Array(json)))
    }

    static func refusal(_ refusal: ConsoleRefusal) -> HTTPResponse {
        var fields = refusal.fields
        fields.append("Content-Type", "application/json")
        return .console(refusal.status, fields, body: .bytes(refusal.error.json))
    }

    /// The response with the header fields that every response of the console has.
    var securedForConsole: HTTPResponse {
        var response = self
        for (name, value) in [
            ("Content-Security-Policy", Self.contentPolicy), ("X-Content-Type-Options", "nosniff"),
            ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ] { response.fields.append(name, value) }
        return response
    }
}

/// The properties of a browser's request that concern the session.
extension HTTPRequestHead {
    /// Whether a page of the console itself makes the request. The browser says so, and pages cannot change it (W3C Fetch Metadata,
    /// section 2.3).
    var isSameOrigin: Bool { fields.values(of: "sec-fetch-site") == ["same-origin"] }

    /// The value of the session's cookie; `nil` unless the request has exactly one.
    var sessionCookie: String? { cookie(SessionCookie.name) }

    /// The value of a cookie; `nil` unless the request has exactly one.
    func cookie(_ name: String) -> String? {
        let cookies = fields.values(of: "cookie").flatMap { $0.split(separator: ";") }.compactMap { pair in
            let pair = pair.drop { $0 == " " }
            return pair.hasPrefix("\(name)=") ? pair.dropFirst(name.count + 1) : nil
        }
        return cookies.count == 1 ? cookies.first.map(String.init) : nil
    }

    /// The token by which a page proves that it belongs to the session.
    var sessionToken: String? { fields["x-console-token"] }

    /// Whether the user caused the request, rather than a page's periodic refresh.
    var isByPerson: Bool { fields["x-console-background"] == nil }
}
