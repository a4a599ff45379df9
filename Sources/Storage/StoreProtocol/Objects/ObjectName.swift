import Basics
import XML

/// The validation of bucket names and object keys from all sources: URLs, copy templates, presign requests.
package enum ObjectName {
    /// Whether a name is one of a bucket in S3 ("General purpose bucket naming rules"): 3 to 63 of a-z, 0-9, `-` and `.`, which
    /// begin and end with a letter or digit, without two dots in a row, and not in the form of an IPv4 address.
    package static func isBucket(_ name: some StringProtocol) -> Bool {
        let bytes = Array(name.utf8)
        guard (3...63).contains(bytes.count), let first = bytes.first, let last = bytes.last,
            first.isASCIILowercaseAlphanumeric, last.isASCIILowercaseAlphanumeric,
            bytes.allSatisfy({ $0.isASCIILowercaseAlphanumeric || $0 == hyphen || $0 == dot })
        else { return false }
        let labels = bytes.split(separator: dot, omittingEmptySubsequences: false)
        let isAddress = labels.count == 4 && labels.allSatisfy { $0.allSatisfy(\.isASCIIDigit) }
        return !labels.contains(where: \.isEmpty) && !isAddress
    }

    /// Whether a name is also one of a bucket in OSS, whose clients refuse dots.
    package static func isBucketOfOSS(_ name: some StringProtocol) -> Bool {
        isBucket(name) && !name.utf8.contains(dot)
    }

    /// The largest number of bytes of a key, as a client of its bucket sees it.
    package static let maximumKeyBytes = 1024

    /// Checks a decoded key of a client. A key is a name and never a path: `.`, `..`, empty segments and backslashes have no meaning.
    ///
    /// - Throws: `keyTooLong` above 1,024 bytes, `invalidObjectName` for an empty key and one that a list cannot contain.
    package static func requireKey(_ key: some StringProtocol) throws(StoreError) {
        guard key.utf8.count <= maximumKeyBytes else { throw .keyTooLong }
        guard !key.isEmpty, key.unicodeScalars.allSatisfy(FlatXML.isCharacter) else { throw .invalidKey }
    }

    /// Whether a key is valid in every store and by every client, as those have to be that the gateway makes up or is configured
    /// with: 1 to 1,023 bytes, no leading `/`, no `\`, no control character, no segment `.` or `..`, which many clients remove from
    /// a URL. Empty segments are valid.
    package static func isPortableKey(_ key: some StringProtocol) -> Bool {
        let bytes = key.utf8
        guard (1...1023).contains(bytes.count), bytes.first != UInt8(ascii: "/") else { return false }
        guard !key.hasControlCharacter(), !bytes.contains(UInt8(ascii: "\\")) else { return false }
        return bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .allSatisfy { !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }
    }

    private static let hyphen = UInt8(ascii: "-")
    private static let dot = UInt8(ascii: ".")
}

extension StoreError {
    static let keyTooLong = StoreError(
        .keyTooLong, "The object name is too long: it must be at most \(ObjectName.maximumKeyBytes) bytes of UTF-8.")
    static let invalidKey = StoreError(
        .invalidObjectName,
        "The object name is not valid: it must not be empty or have characters that XML 1.0 cannot represent.")
}
