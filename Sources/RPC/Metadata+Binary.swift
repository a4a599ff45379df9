import Basics
package import GRPCWire

/// Fields whose name ends in `-bin` contain bytes in base64 (gRPC over HTTP/2, "Custom-Metadata").
extension Metadata {
    /// Returns the bytes of every value of `name`, in order, also of values that a proxy joined with commas.
    ///
    /// - Returns: `nil` if one of them is not base64.
    package func binaryValues(_ name: String) -> [[UInt8]]? {
        var decoded: [[UInt8]] = []
        for text in values(name).flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
            guard let bytes = Base64.decode(text.trimmingPrefix(" ")) else { return nil }
            decoded.append(bytes)
        }
        return decoded
    }

    /// - Parameter name: in lower case, including `-bin`.
    package mutating func append(name: String, binary bytes: [UInt8]) {
        // Sent without padding, as the specification requires.
        append(name: name, value: String(decoding: Base64.encodeUnpadded(bytes), as: UTF8.self))
    }
}
