import Basics
import GRPCWire
import GatewayAPI
import RPC

/// The rules for texts about people.
enum ProfileText {
    private static let longestNickname = 64
    private static let longestURL = 2048
    private static let longestEmail = 254

    /// Returns the first of several hints that is usable as a nickname: what is too long is cut, and control characters are left out.
    static func nickname(hints: String?...) -> String? {
        hints.lazy.compactMap { $0.flatMap(cleaned) }.first
    }

    private static func cleaned(_ hint: String) -> String? {
        let scalars = hint.unicodeScalars.filter { $0.properties.generalCategory != .control }
        let words = String(String.UnicodeScalarView(scalars)).split(separator: " ").joined(separator: " ")
        return words.isEmpty ? nil : String(words.prefix(longestNickname))
    }

    /// Checks a nickname; empty = none.
    static func nickname(_ text: String) throws(RPCError) -> String? {
        guard text.count <= longestNickname, !text.hasControlCharacter(),
            text.utf8.count <= 16 * longestNickname
        else {
            throw RPCError(
                bare: .invalidArgument,
                "nickname must be at most \(longestNickname) characters, without control characters")
        }
        return text.isEmpty ? nil : text
    }

    /// Checks the URL of a picture; empty = none.
    static func avatarURL(_ text: String) throws(RPCError) -> String? {
        if text.isEmpty { return nil }
        let isPlain = text.utf8.allSatisfy { $0.isASCIIVisible && !"\"<>\\^`{|}".utf8.contains($0) }
        guard text.hasPrefix("https://"), text.utf8.count > 8, text.utf8.count <= longestURL, isPlain else {
            throw RPCError(
                bare: .invalidArgument, "avatarUrl must be an https:// URL of at most \(longestURL) bytes, or empty")
        }
        return text
    }

    /// Checks an address, and returns it in the form in which addresses are compared.
    static func email(_ text: String) throws(RPCError) -> String {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        let isPlain = text.utf8.allSatisfy(\.isASCIIVisible)
        guard parts.count == 2, !parts[0].isEmpty, parts[1].count >= 3, parts[1].contains(UInt8(ascii: ".")), isPlain,
            text.utf8.count <= longestEmail
        else { throw RPCError(bare: .invalidArgument, "email must be an email") }
        return text.lowercased()
    }

    /// Checks a text of a length in characters.
    static func check(_ text: String, _ field: String, in range: ClosedRange<Int>) throws(RPCError) {
        // Line feeds and tabs are fine in a description.
        let hasControl = text.hasControlCharacter(permitsLines: true)
        guard range.contains(text.count), text.utf8.count <= 16 * range.upperBound, !hasControl else {
            let rule =
                range.lowerBound == 0 ? "at most \(range.upperBound)" : "\(range.lowerBound) to \(range.upperBound)"
            throw RPCError(
                bare: .invalidArgument, "\(field) must be \(rule) characters, without control characters")
        }
    }
}
