package import Database
package import RPC

/// One page of a list, requested with `page_size` and `page_token`.
package struct Page {
    /// The largest number of entries.
    package let size: Int
    /// The entry after which the page begins; empty for the first page.
    package let cursor: String
    private let tokens: PageTokens
    private let scope: String

    /// - Parameters:
    ///   - size: 0 means `defaultSize`; values above 1000 mean 1000.
    ///   - defaultSize: more than 1000 for lists whose first clients knew no pages and expect all entries.
    /// - Throws: INVALID_ARGUMENT for a size below 0, and for a token that was not issued for `scope`.
    package init(
        size: Int32, token: String, tokens: PageTokens, scope: String, defaultSize: Int = 50
    ) throws(RPCError) {
        guard size >= 0 else { throw .invalidArgument("page_size must be at least 0") }
        self.size = size == 0 ? defaultSize : min(Int(size), 1000)
        self.tokens = tokens
        self.scope = scope
        if token.isEmpty {
            cursor = ""
        } else {
            guard let cursor = tokens.open(token, scope: scope) else {
                throw Self.foreign
            }
            self.cursor = cursor
        }
    }

    private static let foreign = RPCError.invalidArgument(
        "page_token was not issued for this list, filter, order and caller")

    /// Returns the entry after which the page begins, as `parse` reads it; `nil` for the first page.
    ///
    /// - Throws: INVALID_ARGUMENT if `parse` returns `nil`.
    package func cursor<Cursor>(_ parse: (String) -> Cursor?) throws(RPCError) -> Cursor? {
        if cursor.isEmpty { return nil }
        guard let parsed = parse(cursor) else { throw Self.foreign }
        return parsed
    }

    /// The limits of the page, in entries and in bytes.
    package var limit: PageLimit { PageLimit(rows: size) }

    /// Returns the token of the next page; empty if this is the last one.
    package func next<Entry>(after page: PageRows<Entry>, cursor: (Entry) -> String) -> String {
        guard page.hasMore, let last = page.rows.last else { return "" }
        return token(after: cursor(last))
    }

    /// Returns the token of the page that begins after the entry, whether or not there are further entries.
    package func token(after cursor: String) -> String {
        tokens.seal(cursor, scope: scope)
    }
}
