import Basics

/// Percent-encoding (RFC 3986, section 2.1) as the signatures define it: everything but the unreserved characters, in
/// upper-case hex, over the UTF-8 bytes.
package enum URLEncoding {
    package static func encode(_ text: some StringProtocol, keepingSlashes: Bool = false) -> String {
        let isPlain = text.utf8.allSatisfy { isUnreserved($0) || (keepingSlashes && $0 == UInt8(ascii: "/")) }
        if isPlain { return String(text) }
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) || (keepingSlashes && byte == UInt8(ascii: "/")) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Decodes exactly once; `+` stands for itself. Nil for a `%` without two hex digits and for what is not UTF-8.
    package static func decode(_ text: some StringProtocol) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.utf8.count)
        var bytes = text.utf8.makeIterator()
        while let byte = bytes.next() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = bytes.next()?.hexDigitValue, let low = bytes.next()?.hexDigitValue else { return nil }
            decoded.append(high << 4 | low)
        }
        return String(validating: decoded, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "-_.~".utf8.contains(byte)
    }
}
