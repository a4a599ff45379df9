import Basics

/// An e-mail address as the published app accepts it: `[A-Z0-9a-z._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,64}`, at most 254 bytes.
struct EmailAddress: Sendable, Hashable {
    private static let longest = 254

    /// The address as it was written.
    let text: String
    /// The address in the form in which addresses are compared.
    var key: String { text.lowercased() }

    /// - Returns: `nil` for other texts.
    init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.longest, parts.count == 2, !parts[0].isEmpty,
            parts[0].allSatisfy({ $0.isASCIIAlphanumeric || "._%+-".utf8.contains($0) }),
            let dot = parts[1].lastIndex(of: UInt8(ascii: ".")), dot > parts[1].startIndex,
            parts[1][..<dot].allSatisfy({ $0.isASCIIAlphanumeric || ".-".utf8.contains($0) }),
            case let top = parts[1][dot...].dropFirst(), (2...64).contains(top.count),
            top.allSatisfy(\.isASCIILetter)
        else { return nil }
        self.text = text
    }
}
