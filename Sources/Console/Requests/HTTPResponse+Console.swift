import Foundation
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
