package import HTTPServer

/// The settings of the object store's server.
package struct StoreServerConfiguration: Sendable {
    /// The lower-case domains under which a host's first label is the bucket, e.g. `oss-lab.example.com`. Requests to any other
    /// host are in path style.
    package var bucketDomains: [String] = []
    /// The host and port of the public endpoint, which S3 clients sign; `nil` if they use the listener's address.
    package var publicAuthority: String?
    /// The largest difference of a client's signed date; `nil` = the date is not checked.
    package var maximumClockSkew: Duration?
    /// The origins whose scripts may use the store in a browser, e.g. `https://viewer.example.com`; `*` = all.
    package var corsOrigins: [String] = []
    package var daemon = HTTPServerConfiguration()
    /// Called for every request with a 5xx response, with its request id and the error.
    package var report: @Sendable (String, any Error) -> Void = { _, _ in }

    package init() {}
}
