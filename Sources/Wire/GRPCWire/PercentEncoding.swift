import Basics

/// The encoding of `grpc-message`: UTF-8, where every byte outside `0x20…0x7E` and `%` itself is `%XX`.
///
/// A space at either end is `%20` as well: a field value must not begin or end with one, and peers drop such a field
/// (RFC 9113, section 8.2.1).
///
/// Source: gRPC over HTTP/2, "Responses", rule Percent-Encoded.
public enum PercentEncoding {
    public static func encode(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        func isEscaped(_ index: Int) -> Bool {
            let byte = bytes[index]
            let isOuterSpace = byte == 0x20 && (index == 0 || index == bytes.count - 1)
            return !byte.isASCIIPrintable || byte == UInt8(ascii: "%") || isOuterSpace
        }
        guard let first = bytes.indices.first(where: isEscaped) else { return bytes }
        var encoded = Array(bytes[..<first])
        for index in first..<bytes.count {
            if isEscaped(index) {
                PercentEscapes.append(bytes[index], to: &encoded)
            } else {
                encoded.append(bytes[index])
            }
        }
        return encoded
    }

    /// Decodes without ever failing, as the specification requires: a malformed escape stays unchanged.
    public static func decode(_ encoded: some Collection<UInt8>) -> String {
        String(decoding: PercentEscapes.decode(Array(encoded), keepsMalformed: true) ?? [], as: UTF8.self)
    }
}
