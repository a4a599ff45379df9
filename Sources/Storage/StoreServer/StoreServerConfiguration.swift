import HTTPServer

/// How the object store is served.
package struct StoreServerConfiguration: Sendable {
    /// Lower-case domains under which a host's first label is the bucket, e.g. `oss-lab.example.com`. Requests to
    /// any other host are in path style.
    package var bucketDomains: [String] = []
    /// The host and port of the endpoint that clients are told, which those of S3 sign; nil where they see the one
    /// that arrives here.
    package var publicAuthority: String?
    /// By how much the date that a client signed may be off; nil = the date is not policed.
    package var maximumClockSkew: Duration?
    /// Origins whose scripts may use the store in a browser, e.g. `https://viewer.example.com`; `*` = all.
    package var corsOrigins: [String] = []
    package var daemon = HTTPServerConfiguration()
    /// Told of every request that ended with 5xx: its request id and what happened.
    package var report: @Sendable (String, any Error) -> Void = { _, _ in }

    package init() {}
}
