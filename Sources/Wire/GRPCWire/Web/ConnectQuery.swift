import Basics
import Protobuf

/// A unary call in the query of a GET request: `?encoding=json&message=%7B%7D` (Connect protocol, "Unary-Get-Request").
public struct ConnectQuery: Sendable, Equatable {
    /// The error in a query; the raw value is a message for people.
    public enum Failure: String, Error, Sendable {
        case escape = "the query is not correctly percent-encoded"
        case repeated = "the query has a parameter more than once"
        case message = "the query needs the parameter message"
        case encoding = "the query needs encoding=json or encoding=proto"
        case base64 = "base64=1 requires a message in URL-safe base64"
        case flag = "the query's base64 must be 1"
        case version = "the query's connect must be v1"
    }

    public var codec: WebContentType.Codec
    /// The message, compressed with `compression` unless that is empty.
    public var message: [UInt8]
    /// The name of the compression; empty = none.
    public var compression: String

    /// - Parameter query: the part of the target after the `?`.
    public init(_ query: Substring) throws(Failure) {
        var values: [String: [UInt8]] = [:]
        for pair in Array(query.utf8).split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEscapes.decode(form: parts[0]),
                let value = PercentEscapes.decode(form: parts.count > 1 ? parts[1] : [])
            else {
                throw .escape
            }
            guard values.updateValue(value, forKey: String(decoding: name, as: UTF8.self)) == nil else {
                throw .repeated
            }
        }
        func text(_ name: String) -> String? { values[name].map { String(decoding: $0, as: UTF8.self) } }
        guard let codec = text("encoding").flatMap(WebContentType.Codec.init(rawValue:)) else { throw .encoding }
        guard var message = values["message"] else { throw .message }
        guard ["v1", nil].contains(text("connect")) else { throw .version }
        guard ["1", nil].contains(text("base64")) else { throw .flag }
        if values["base64"] != nil {
            guard let decoded = Base64.decodeAny(message) else { throw .base64 }
            message = decoded
        }
        self.codec = codec
        self.message = message
        let compression = text("compression") ?? ""
        self.compression = compression == "identity" ? "" : compression
    }
}

/// The value of `Connect-Timeout-Ms`: at most 10 digits (Connect protocol, "Unary-Request", rule Timeout).
public enum ConnectTimeout {
    /// Returns nanoseconds; `nil` if the value is malformed.
    public static func parse(_ value: String) -> Int64? {
        guard (1...10).contains(value.utf8.count), value.utf8.allSatisfy({ $0.isASCIIDigit }) else {
            return nil
        }
        // Ten digits of milliseconds are below 2^63 nanoseconds.
        return Int64(value).map { $0 * 1_000_000 }
    }
}
