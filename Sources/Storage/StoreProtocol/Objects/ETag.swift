import Basics
import Crypto

/// Entity tags, always in double quotes. The dialects form them differently, and any client may compare with any form.
package enum ETag {
    package enum Form: Sendable {
        /// Upper-case hexadecimal; for parts, over the **hexadecimal text** of their MD5s.
        case oss
        /// Lower-case hexadecimal; for parts, over their MD5s.
        case s3

        fileprivate func text(_ digest: [UInt8]) -> String {
            switch self {
            case .oss: Hex.upper(digest)
            case .s3: Hex.lower(digest)
            }
        }
    }

    /// Returns the tag of a part, or of an object from a single PUT: the MD5.
    package static func whole(md5: [UInt8], _ form: Form) -> String {
        "\"\(form.text(md5))\""
    }

    /// Returns the tag of an object of parts: the MD5 over the parts' MD5s, and their number.
    package static func multipart(partMD5s: [[UInt8]], _ form: Form) -> String {
        let digest = Digest.md5(partMD5s.flatMap { form == .oss ? Array(form.text($0).utf8) : $0 })
        return "\"\(form.text(digest))-\(partMD5s.count)\""
    }

    /// Whether two tags are equal, ignoring letter case, and quotes and spaces around them; quotes may be escaped as in XML.
    package static func matches(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        let (left, right) = (unquoted(left.utf8), unquoted(right.utf8))
        return left.count == right.count && zip(left, right).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }

    private static func unquoted(_ tag: some Collection<UInt8>) -> ArraySlice<UInt8> {
        var rest = Array(tag)[...]
        while let first = rest.first {
            if first == UInt8(ascii: "\"") || first == UInt8(ascii: " ") {
                rest.removeFirst()
            } else if rest.starts(with: escapedQuote) {
                rest.removeFirst(escapedQuote.count)
            } else {
                break
            }
        }
        while let last = rest.last {
            if last == UInt8(ascii: "\"") || last == UInt8(ascii: " ") {
                rest.removeLast()
            } else if rest.suffix(escapedQuote.count).elementsEqual(escapedQuote) {
                rest.removeLast(escapedQuote.count)
            } else {
                break
            }
        }
        return rest
    }

    private static let escapedQuote = Array("&quot;".utf8)
}

extension String {
    func trimming(_ isCut: (Character) -> Bool) -> String {
        var rest = self[...]
        while let first = rest.first, isCut(first) { rest.removeFirst() }
        while let last = rest.last, isCut(last) { rest.removeLast() }
        return String(rest)
    }
}
