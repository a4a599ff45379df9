import Basics
import GatewayAPI
import RPC

/// The content types that a caller accepts: media ranges without parameters (RFC 9110, section 12.5.1).
struct ContentTypeRanges: Sendable, Hashable {
    private static let most = 32
    private static let longest = 255

    /// The ranges in lower case; empty = all.
    private let ranges: Set<String>

    /// - Throws: INVALID_ARGUMENT for text that is not `type/subtype`, `type/*` or `*/*`.
    init(_ texts: [String]) throws(RPCError) {
        guard texts.count <= Self.most else {
            throw .invalidArgument("allowed_content_types must have at most \(Self.most) entries, not \(texts.count)")
        }
        for (index, text) in texts.enumerated() where !Self.isRange(text) {
            throw .invalidArgument("allowed_content_types[\(index)] must be like text/plain, text/* or */*")
        }
        ranges = Set(texts.map { $0.lowercased() })
    }

    /// - Parameter contentType: parameters and letter case are ignored.
    func contain(_ contentType: String) -> Bool {
        let type = contentType.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
        let range = type.prefix { $0 != "/" } + "/*"
        return ranges.isEmpty || ranges.contains(type) || ranges.contains(String(range)) || ranges.contains("*/*")
    }

    private static func isRange(_ text: String) -> Bool {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        return halves.count == 2 && text.utf8.count <= longest && halves.allSatisfy(isToken)
            && (halves[0] != "*" || halves[1] == "*")
    }

    /// Whether the text is a token (RFC 9110, section 5.6.2).
    private static func isToken(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0.isHTTPTokenCharacter }
    }
}
