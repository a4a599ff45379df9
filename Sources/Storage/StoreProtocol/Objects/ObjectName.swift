import Basics

/// The validation of bucket names and object keys from all sources: URLs, copy templates, presign requests.
package enum ObjectName {
    /// Whether a name matches `^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`.
    package static func isBucket(_ name: some StringProtocol) -> Bool {
        let bytes = Array(name.utf8)
        guard (3...63).contains(bytes.count), bytes.first != hyphen, bytes.last != hyphen else { return false }
        return bytes.allSatisfy { $0.isASCIILowercaseAlphanumeric || $0 == hyphen }
    }

    /// Whether a decoded key is valid: 1 to 1023 bytes, no leading `/`, no `\`, no control character, no segment `.` or `..`
    /// (clients cannot sign one). Empty segments are valid.
    package static func isKey(_ key: some StringProtocol) -> Bool {
        let bytes = key.utf8
        guard (1...1023).contains(bytes.count), bytes.first != UInt8(ascii: "/") else { return false }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }) else { return false }
        // C1 controls are two bytes in UTF-8.
        guard key.unicodeScalars.allSatisfy({ !(0x80...0x9F).contains($0.value) }) else { return false }
        return bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .allSatisfy { !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }
    }

    private static let hyphen = UInt8(ascii: "-")
}
