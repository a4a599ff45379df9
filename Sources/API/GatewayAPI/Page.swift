import RPC

/// One page of a list, requested with `page_size` and `page_token`.
package struct Page {
    /// The largest number of entries, 1 to 1000.
    package let size: Int
    /// The entry after which the page begins; empty for the first page.
    package let cursor: String
    private let tokens: PageTokens
    private let scope: String

    /// - Parameter size: 0 means 50; values above 1000 mean 1000.
    /// - Throws: INVALID_ARGUMENT for a size below 0, and for a token that was not issued for `scope`.
    package init(size: Int32, token: String, tokens: PageTokens, scope: String) throws(RPCError) {
        guard size >= 0 else { throw .invalidArgument("page_size must be at least 0") }
        self.size = size == 0 ? 50 : min(Int(size), 1000)
        self.tokens = tokens
        self.scope = scope
        if token.isEmpty {
            cursor = ""
        } else {
            guard let cursor = tokens.open(token, scope: scope) else {
                throw .invalidArgument("page_token was not issued for this list, filter and caller")
            }
            self.cursor = cursor
        }
    }

    /// Returns the token of the next page; empty if this is the last one.
    ///
    /// - Parameter entries: one more than the page holds, if there are more.
    package func next<Entry>(after entries: [Entry], cursor: (Entry) -> String) -> String {
        entries.count > size ? token(after: cursor(entries[size - 1])) : ""
    }

    /// Returns the token of the page that begins after the entry, whether or not there are further entries.
    package func token(after cursor: String) -> String {
        tokens.seal(cursor, scope: scope)
    }
}
