/// An answer over HTTP/1.1. `Date`, `Content-Length` and `Connection` are the daemon's to set.
package struct HTTPResponse: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// A range of a file, sent by the kernel.
        case file(HTTPFile, offset: Int64, length: Int64)
        /// What comes as it is made, in chunks.
        case stream(any HTTPBodySource & Sendable)
        /// The answer to HEAD, or a 304: the length that a 200 to GET would have, and no body.
        case omitted(length: Int64)
    }

    package var status: Int
    package var fields: HTTPFields
    package var body: Body
    /// Close the connection after this answer.
    package var closes = false

    package init(status: Int, fields: HTTPFields = [:], body: Body = .bytes([])) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}
