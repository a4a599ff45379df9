package import HTTPTypes

/// A client's request.
package struct HTTPRequest: Sendable {
    /// The body of a request.
    package enum Body: Sendable {
        case none
        case bytes([UInt8])
        /// Read while it is sent, so that a body of any size needs little memory.
        case ranged(any RangedBytes, Range<Int64>)

        var size: Int64 {
            switch self {
            case .none: 0
            case .bytes(let bytes): Int64(bytes.count)
            case .ranged(_, let range): Int64(range.count)
            }
        }
    }

    package var method: String
    /// The absolute URL, `http` or `https`, sent as written.
    package var url: String
    package var fields: HTTPFields
    package var body: Body

    package init(_ method: String, _ url: String, fields: HTTPFields = [:], body: Body = .none) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }
}

/// The response to a request.
package struct HTTPReply: Sendable {
    package let status: Int
    package let fields: HTTPFields
    /// The body; empty if a receiver took it.
    package let body: [UInt8]
}
