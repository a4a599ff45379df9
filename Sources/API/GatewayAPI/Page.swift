import Basics
package import Crypto
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

/// Page tokens, which contain the position of the next page. A token is sealed, so that it only works for the query and the caller
/// for which it was issued; and encrypted, because a page may end at a row that the caller may not see.
package struct PageTokens: Sendable {
    private static let sealLength = 16
    private static let maximumLength = 2048

    private let key: [UInt8]
    private let cipherKey: [UInt8]

    package init(keyring: Keyring) {
        key = keyring.key(.pageTokens)
        cipherKey = keyring.key(.pageCursors)
    }

    /// - Parameters:
    ///   - cursor: the position of the next page, in the list's own format.
    ///   - scope: the list, its filter and its caller; the token only opens with an equal scope.
    package func seal(_ cursor: String, scope: String) -> String {
        let content = Array(cursor.utf8)
        let seal = seal(content, scope)
        return Base64.encodeURL(seal + AES256GCM.seal(content, key: cipherKey, nonce: Self.nonce(seal)))
    }

    /// Returns the cursor; `nil` for a token that was not issued for `scope`.
    package func open(_ token: String, scope: String) -> String? {
        guard token.utf8.count <= Self.maximumLength, let bytes = Base64.decodeURL(token),
            bytes.count > Self.sealLength + AES256GCM.tagCount
        else { return nil }
        let seal = Array(bytes[..<Self.sealLength])
        let sealed = Array(bytes[Self.sealLength...])
        guard let content = AES256GCM.open(sealed, key: cipherKey, nonce: Self.nonce(seal)),
            constantTimeEqual(seal, self.seal(content, scope))
        else { return nil }
        return String(decoding: content, as: UTF8.self)
    }

    /// Derives the nonce from the contents, so that a nonce is never used with two contents (the construction of RFC 5297).
    private static func nonce(_ seal: [UInt8]) -> [UInt8] { Array(seal[..<AES256GCM.nonceCount]) }

    private func seal(_ content: [UInt8], _ scope: String) -> [UInt8] {
        // The length of the scope comes first, so that no byte of one part can pass for the other's.
        let message = Array("\(scope.utf8.count) \(scope)".utf8) + content
        return Array(HMAC.sha256(key: key, message)[..<Self.sealLength])
    }
}
