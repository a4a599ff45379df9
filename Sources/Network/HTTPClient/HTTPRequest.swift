import HTTPTypes

/// A request of a client.
package struct HTTPRequest: Sendable {
    /// What follows the header section.
    package enum Body: Sendable {
        case none
        case bytes([UInt8])
        /// Read as it is sent: a body of any size costs no memory.
        case file(FileReader, Range<Int64>)

        var size: Int64 {
            switch self {
            case .none: 0
            case .bytes(let bytes): Int64(bytes.count)
            case .file(_, let range): Int64(range.count)
            }
        }
    }

    package var method: String
    /// Absolute, `http` or `https`; sent as it is written.
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

/// What came back.
package struct HTTPReply: Sendable {
    package let status: Int
    package let fields: HTTPFields
    /// Empty where a receiver took it.
    package let body: [UInt8]
}

/// Takes a reply's body as it arrives.
package struct HTTPReceiver: Sendable {
    /// Called once, before the body: whether `receive` is to have it. Otherwise it is kept for the reply.
    let wants: @Sendable (_ status: Int, _ fields: HTTPFields) throws -> Bool
    let receive: @Sendable (UnsafeRawBufferPointer) throws -> Void

    /// - Parameters: both may throw, which ends the exchange with what they threw.
    package init(
        wants: @escaping @Sendable (_ status: Int, _ fields: HTTPFields) throws -> Bool,
        receive: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) {
        self.wants = wants
        self.receive = receive
    }
}
