import Wire

/// Which web pages of other origins may call (Fetch standard, "CORS protocol").
///
/// Without credentials in the standard's sense: callers show tokens in the Authorization field, never cookies, so that a
/// page that is let in can do nothing that its user's token was not given to it for.
package struct CrossOrigin: Sendable {
    /// Origins as browsers send them, `https://app.example`; a `*` lets all in.
    package var origins: Set<String>
    /// How long a browser may remember a preflight's answer, in seconds.
    package var maxAge: Int

    package init(origins: Set<String>, maxAge: Int = 7200) {
        self.origins = origins
        self.maxAge = maxAge
    }

    /// What the adapters and the handlers read.
    private static let requestFields = [
        "authorization", "content-type", "content-encoding", "connect-protocol-version", "connect-timeout-ms",
        "connect-content-encoding", "connect-accept-encoding", "grpc-timeout", "grpc-encoding", "grpc-accept-encoding",
        "x-grpc-web", "x-user-agent", "x-organization", "x-request-id", "traceparent", "tracestate",
    ].joined(separator: ", ")

    private static let responseFields = [
        "content-encoding", "connect-content-encoding", "grpc-encoding", "grpc-status", "grpc-message",
        "grpc-status-details-bin", "retry-after", "retry-after-ms", "x-request-id", "content-disposition",
    ].joined(separator: ", ")

    private func allows(_ origin: String) -> Bool {
        origins.contains(origin) || origins.contains("*")
    }

    /// Fields of a response, also of one that refuses: they let the page read it.
    func fields(origin: String?) -> ResponseSection.Fields {
        guard let origin, allows(origin) else { return ResponseSection.fields([("vary", "origin")]) }
        return ResponseSection.fields([
            ("access-control-allow-origin", origin), ("vary", "origin"),
            ("access-control-expose-headers", Self.responseFields),
        ])
    }

    /// The answer to a browser's question before a call; `nil` where it gets none.
    func preflight(origin: String?) -> ResponsePart? {
        preflightFields(origin: origin, methods: "GET, POST").map {
            ResponsePart(head: .made(status: 204, $0), end: .body)
        }
    }

    /// The fields of that answer.
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
