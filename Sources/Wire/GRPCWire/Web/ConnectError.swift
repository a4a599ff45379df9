import Basics
import Protobuf

/// The failure of a call in Connect's format: `{"code":…,"message":…,"details":[…]}` (Connect protocol, "Error").
public struct ConnectError: Sendable {
    /// A message with further information.
    public struct Detail: Sendable {
        /// The message's full name.
        public var type: String
        /// The message, encoded.
        public var value: [UInt8]
        /// The fields of the message by name, for people. Omitted if empty.
        public var debug: [(name: String, value: String)]

        public init(type: String, value: [UInt8], debug: [(name: String, value: String)] = []) {
            self.type = type
            self.value = value
            self.debug = debug
        }
    }

    public var code: StatusCode
    public var message: String
    public var details: [Detail]

    public init(_ code: StatusCode, _ message: String, details: [Detail] = []) {
        self.code = code
        self.message = message
        self.details = details
    }

    public var json: [UInt8] {
        var output = Array("{\"code\":\"\(code.connectName)\"".utf8)
        if !message.isEmpty {
            output += ",\"message\":".utf8
            JSONText.quote(message, to: &output)
        }
        if !details.isEmpty {
            output += ",\"details\":[".utf8
            for (index, detail) in details.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                Self.write(detail, to: &output)
            }
            output.append(UInt8(ascii: "]"))
        }
        output.append(UInt8(ascii: "}"))
        return output
    }

    private static func write(_ detail: Detail, to output: inout [UInt8]) {
        output += "{\"type\":".utf8
        JSONText.quote(detail.type, to: &output)
        output += ",\"value\":\"".utf8
        var text: [UInt8] = []
        Base64.append(detail.value, to: &text)
        // Without padding, as the protocol requires.
        output += text.prefix { $0 != UInt8(ascii: "=") }
        output.append(UInt8(ascii: "\""))
        if !detail.debug.isEmpty {
            output += ",\"debug\":{".utf8
            for (index, field) in detail.debug.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                JSONText.quote(field.name, to: &output)
                output.append(UInt8(ascii: ":"))
                JSONText.quote(field.value, to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
        output.append(UInt8(ascii: "}"))
    }
}

/// The status codes in Connect's spelling, and their HTTP statuses (Connect protocol, "Error Codes").
extension StatusCode {
    /// Connect's name of the status, e.g. `failed_precondition`; in American spelling, unlike gRPC's `CANCELLED`.
    public var connectName: String {
        self == .cancelled ? "canceled" : name.lowercased()
    }

    /// The HTTP status of a unary response with this status code.
    public var httpStatus: Int {
        switch self {
        case .ok: 200
        case .cancelled: 499
        case .invalidArgument, .failedPrecondition, .outOfRange: 400
        case .unauthenticated: 401
        case .permissionDenied: 403
        case .notFound: 404
        case .alreadyExists, .aborted: 409
        case .resourceExhausted: 429
        case .unknown, .internalError, .dataLoss: 500
        case .unimplemented: 501
        case .unavailable: 503
        case .deadlineExceeded: 504
        }
    }
}
