import Basics
import GatewayAPI
import RPC

/// The content types that a caller takes: media ranges as RFC 9110 has them in section 12.5.1, without parameters.
struct ContentTypeRanges: Sendable, Hashable {
    private static let most = 32
    private static let longest = 255

    /// Lower case; empty = all.
    private let ranges: Set<String>

    /// - Throws: INVALID_ARGUMENT for what is no `type/subtype`, `type/*` or `*/*`.
    init(_ texts: [String]) throws(RPCError) {
        guard texts.count <= Self.most else {
            throw .invalidArgument("allowed_content_types must have at most \(Self.most) entries, not \(texts.count)")
        }
        for (index, text) in texts.enumerated() where !Self.isRange(text) {
            throw .invalidArgument("allowed_content_types[\(index)] must be like text/plain, text/* or */*")
        }
        ranges = Set(texts.map { $0.lowercased() })
    }

    /// - Parameter contentType: with or without parameters, which do not matter; neither does letter case.
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

    /// RFC 9110, section 5.6.2.
    private static func isToken(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0.isHTTPTokenCharacter }
    }
}
