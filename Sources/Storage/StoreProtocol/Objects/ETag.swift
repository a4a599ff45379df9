import Basics
import Crypto

/// Entity tags, always in double quotes. Each dialect makes them its own way, and any client may compare any of them.
package enum ETag {
    package enum Form: Sendable {
        /// Upper-case hex; of parts, over the **hex text** of their MD5s.
        case oss
        /// Lower-case hex; of parts, over their MD5s.
        case s3

        fileprivate func text(_ digest: [UInt8]) -> String {
            switch self {
            case .oss: Hex.upper(digest)
            case .s3: Hex.lower(digest)
            }
        }
    }

    /// The tag of a part, or of an object that was put whole: the MD5.
    package static func whole(md5: [UInt8], _ form: Form) -> String {
        "\"\(form.text(md5))\""
    }

    /// The tag of an object made of parts: the MD5 over the parts' MD5s, and their number.
    package static func multipart(partMD5s: [[UInt8]], _ form: Form) -> String {
        let digest = Digest.md5(partMD5s.flatMap { form == .oss ? Array(form.text($0).utf8) : $0 })
        return "\"\(form.text(digest))-\(partMD5s.count)\""
    }

    /// Whether two tags are the same but for letter case, and for quotes and spaces around them; a quote may be escaped, as
    /// in XML.
    package static func matches(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        let (left, right) = (unquoted(left.utf8), unquoted(right.utf8))
        return left.count == right.count && zip(left, right).allSatisfy { upper($0) == upper($1) }
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

    private static func upper(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte & ~0x20 : byte
    }
}

extension String {
    func trimming(_ isCut: (Character) -> Bool) -> String {
        var rest = self[...]
        while let first = rest.first, isCut(first) { rest.removeFirst() }
        while let last = rest.last, isCut(last) { rest.removeLast() }
        return String(rest)
    }
}
