import Basics

/// The encoding of `grpc-message`: UTF-8, where every byte outside `0x20…0x7E` and `%` itself is `%XX`.
///
/// A space at either end is `%20` as well: a field value must not begin or end with one, and peers drop such a field
/// (RFC 9113, section 8.2.1).
///
/// Source: gRPC over HTTP/2, "Responses", rule Percent-Encoded.
public enum PercentEncoding {
    public static func encode(_ text: String) -> [UInt8] {
        let digits: [UInt8] = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        let last = text.utf8.count - 1
        encoded.reserveCapacity(text.utf8.count)
        for (index, byte) in text.utf8.enumerated() {
            let isOuterSpace = byte == 0x20 && (index == 0 || index == last)
            if (0x20...0x7E).contains(byte) && byte != 0x25 && !isOuterSpace {
                encoded.append(byte)
            } else {
                encoded.append(0x25)
                encoded.append(digits[Int(byte >> 4)])
                encoded.append(digits[Int(byte & 15)])
            }
        }
        return encoded
    }

    /// Never fails, as the specification asks: what is no valid escape stays as it stands.
    public static func decode(_ encoded: some Collection<UInt8>) -> String {
        let bytes = Array(encoded)
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0x25, index + 2 < bytes.count, let high = bytes[index + 1].hexDigitValue,
                let low = bytes[index + 2].hexDigitValue
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
