import Basics
import Wire

/// Fields whose name ends in `-bin` carry bytes as base64 (gRPC over HTTP/2, "Custom-Metadata").
extension Metadata {
    /// The bytes of every value under `name`, in order, also of values that a proxy joined with commas.
    ///
    /// - Returns: `nil` where one of them is no base64.
    package func binaryValues(_ name: String) -> [[UInt8]]? {
        var decoded: [[UInt8]] = []
        for text in values(name).flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
            guard let bytes = Base64.decode(text.trimmingPrefix(" ")) else { return nil }
            decoded.append(bytes)
        }
        return decoded
    }

    /// - Parameter name: in lower case, with its `-bin`.
    package mutating func append(name: String, binary bytes: [UInt8]) {
        // Sent without padding, as the specification asks.
        let text = Base64.encode(bytes).utf8.filter { $0 != UInt8(ascii: "=") }
        append(name: name, value: String(decoding: text, as: UTF8.self))
    }
}
