import HTTPTypes

/// A request of a client.
public struct HTTPRequest: Sendable {
    /// What follows the header section.
    public enum Body: Sendable {
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

    public var method: String
    /// Absolute, `http` or `https`; sent as it is written.
    public var url: String
    public var fields: HTTPFields
    public var body: Body

    public init(_ method: String, _ url: String, fields: HTTPFields = [:], body: Body = .none) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }
}

/// What came back.
public struct HTTPReply: Sendable {
    public let status: Int
    public let fields: HTTPFields
    /// Empty where a receiver took it.
    public let body: [UInt8]
}

/// Takes a reply's body as it arrives.
public struct HTTPReceiver: Sendable {
    /// Called once, before the body: whether `receive` is to have it. Otherwise it is kept for the reply.
    let wants: @Sendable (_ status: Int, _ fields: HTTPFields) throws -> Bool
    let receive: @Sendable (UnsafeRawBufferPointer) throws -> Void

    /// - Parameters: both may throw, which ends the exchange with what they threw.
    public init(
        wants: @escaping @Sendable (_ status: Int, _ fields: HTTPFields) throws -> Bool,
        receive: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) {
        self.wants = wants
        self.receive = receive
    }
}
