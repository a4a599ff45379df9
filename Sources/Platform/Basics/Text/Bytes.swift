extension StringProtocol {
    /// Returns the longest beginning that has at most this number of bytes of UTF-8, without a part of a character.
    package func prefix(bytes: Int) -> String {
        var count = 0
        let kept = prefix {
            count += $0.utf8.count
            return count <= bytes
        }
        return String(kept)
    }
}

/// Searches for ASCII characters by byte, as other programs and file systems do.
///
/// The standard library's searches compare whole characters: a slash or a quotation mark before a combining character is a part
/// of another character, and they do not find it.
extension StringProtocol {
    /// Returns the texts between the separators.
    package func split(byte separator: Unicode.Scalar, omittingEmpty: Bool = false) -> [String] {
        utf8.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: omittingEmpty).map { part in
            String(self[part.startIndex..<part.endIndex])
        }
    }

    /// Returns the place of the last such character.
    package func lastIndex(byte character: Unicode.Scalar) -> Index? {
        Substring(self).utf8.lastIndex(of: UInt8(ascii: character))
    }

    /// Returns the text with other texts in place of some ASCII characters.
    package func replacing(bytes replacements: [Unicode.Scalar: String]) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        for byte in Array(utf8) {
            if let text = replacements[Unicode.Scalar(byte)] {
                bytes += text.utf8
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Substring {
    /// Returns the texts before and after a separator; the second is `nil` without a separator.
    package func halves(atFirst separator: Unicode.Scalar) -> (first: Substring, second: Substring?) {
        halves(at: utf8.firstIndex(of: UInt8(ascii: separator)))
    }

    package func halves(atLast separator: Unicode.Scalar) -> (first: Substring, second: Substring?) {
        halves(at: utf8.lastIndex(of: UInt8(ascii: separator)))
    }

    private func halves(at index: Index?) -> (first: Substring, second: Substring?) {
        guard let index else { return (self, nil) }
        return (self[..<index], self[utf8.index(after: index)...])
    }
}

/// The comparison of texts that other parties, or an index of the database, compare by code points.
///
/// Swift's `==` holds for canonically equivalent texts, such as "K" and the Kelvin sign (U+212A). An identity provider treats them
/// as different, and may give both to different people, workloads or groups; an index finds the one and not the other.
extension String {
    /// Whether both texts have the same code points (RFC 7519, section 7.3).
    package func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension FixedWidthInteger {
    /// The bytes in big-endian order.
    package var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    /// Reads bytes in big-endian order; of more bytes than the number has, the last ones.
    package init(bigEndianBytes bytes: some Collection<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
    }
}

extension [UInt8] {
    /// Appends the bytes of a number in big-endian order, without an array of their own.
    package mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}
