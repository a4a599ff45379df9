import Basics
import XML

/// The validation of bucket names and object keys from all sources: URLs, copy templates, presign requests.
package enum ObjectName {
    /// Whether a name matches `^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`.
    package static func isBucket(_ name: some StringProtocol) -> Bool {
        let bytes = Array(name.utf8)
        guard (3...63).contains(bytes.count), bytes.first != hyphen, bytes.last != hyphen else { return false }
        return bytes.allSatisfy { $0.isASCIILowercaseAlphanumeric || $0 == hyphen }
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
}

extension StoreError {
    static let keyTooLong = StoreError(
        .keyTooLong, "The object name is too long: it must be at most \(ObjectName.maximumKeyBytes) bytes of UTF-8.")
    static let invalidKey = StoreError(
        .invalidObjectName,
        "The object name is not valid: it must not be empty or have characters that XML 1.0 cannot represent.")
}
