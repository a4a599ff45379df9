/// The web pages of other origins that may call (Fetch standard, "CORS protocol").
///
/// Without credentials in the standard's sense: callers send tokens in the Authorization field, never cookies. So an allowed page
/// can do nothing for which it was not given a user's token.
package struct CrossOrigin: Sendable {
    /// Origins as browsers send them, `https://app.example`; `*` allows all.
    package var origins: Set<String>
    /// The time for which a browser may cache the response to a preflight, in seconds.
    package var maxAge: Int

    package init(origins: Set<String>, maxAge: Int = 7200) {
        self.origins = origins
        self.maxAge = maxAge
    }

    /// The request fields that the adapters and the handlers read.
    private static let requestFields = [
        "authorization", "content-type", "content-encoding", "connect-protocol-version", "connect-timeout-ms",
        "connect-content-encoding", "connect-accept-encoding", "grpc-timeout", "grpc-encoding", "grpc-accept-encoding",
        "x-grpc-web", "x-user-agent", "x-organization", "x-request-id", "traceparent", "tracestate",
    ].joined(separator: ", ")

    private static let responseFields = [
        "content-encoding", "connect-content-encoding", "grpc-encoding", "grpc-status", "grpc-message",
        "grpc-status-details-bin", "retry-after", "retry-after-ms", "x-request-id", "content-disposition",
    ].joined(separator: ", ")

    func allows(_ origin: String) -> Bool {
        origins.contains(origin) || origins.contains("*")
    }

    /// Returns the fields, also of an error response, that let the page read the response.
    func fields(origin: String?) -> ResponseSection.Fields {
        guard let origin, allows(origin) else { return ResponseSection.fields([("vary", "origin")]) }
        return ResponseSection.fields([
            ("access-control-allow-origin", origin), ("vary", "origin"),
            ("access-control-expose-headers", Self.responseFields),
        ])
    }

    /// Returns the response to a preflight request; `nil` if the origin is not allowed.
    func preflight(origin: String?) -> ResponsePart? {
        preflightFields(origin: origin, methods: "GET, POST").map {
            ResponsePart(head: .made(status: 204, $0), end: .body)
        }
    }

    /// Returns the fields of the response to a preflight request.
    ///
    /// - Parameter methods: the HTTP methods that a page may use.
    func preflightFields(origin: String?, methods: String) -> ResponseSection.Fields? {
        guard let origin, allows(origin) else { return nil }
        return ResponseSection.fields([
            ("access-control-allow-origin", origin), ("vary", "origin"), ("access-control-allow-methods", methods),
            ("access-control-allow-headers", Self.requestFields), ("access-control-max-age", "\(maxAge)"),
        ])
    }
}
