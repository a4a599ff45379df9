import Accounts
import Basics
import Database
import GatewayAPI
import ObjectFilters
import RPC

/// The rules of ListObjects.
///
/// Pages follow the position that an object got when it was verified, downwards: it never changes and new ones are higher,
/// so a walk neither repeats nor skips what was there at its start. A page token is that position, sealed with the filter
/// and the caller.
struct ObjectListing: Sendable {
    static let defaultPageSize = 50
    static let maximumPageSize = 1000

    let database: Database
    let tokens: PageTokens
    let clock: any WallClock
    let configuration: CatalogConfiguration

    /// Where a page begins, as a token says it.
    private struct Cursor {
        let position: Int64
        /// Seconds since 1970: the time from which ages count on all pages of a walk.
        let now: Int64?

        init(position: Int64, now: Int64?) {
            self.position = position
            self.now = now
        }

        init?(_ text: String) {
            let parts = text.split(separator: " ", maxSplits: 1).map { Int64($0) }
            guard let first = parts.first, let position = first else { return nil }
            self.position = position
            now = parts.count == 2 ? parts[1] : nil
        }

        var text: String { "\(position)" + (now.map { " \($0)" } ?? "") }
    }

    /// - Returns: the objects with their tags, and the token of the next page, empty where there is none.
    func page(
        size: Int32, token: String, filter: String, for user: UserPrincipal
    ) async throws -> (objects: [ListedObject], next: String) {
        guard size >= 0 else { throw RPCError.invalidArgument("page_size must be at least 0") }
        let scope = Self.scope(filter: filter, user: user)
        let filter = try Self.parse(filter)
        let cursor = try cursor(token, scope: scope)
        let now = cursor?.now ?? clock.now().seconds
        let query = PageQuery(
            scope: user.objectScope, filter: filter.resolved(at: now).hidingTrash, after: cursor?.position,
            size: size == 0 ? Self.defaultPageSize : min(Int(size), Self.maximumPageSize),
            visits: configuration.pageVisits)
        let (page, tags) = try await database.read { connection in
            let records = ObjectRecords(connection)
            let page = try records.page(query)
            return (page, try records.tags(of: page.objects))
        }
        let next = page.next.map { Cursor(position: $0, now: filter.hasAge ? now : nil) }
        let objects = page.objects.map { ListedObject(object: $0, tags: tags[$0.fileID] ?? [:]) }
        return (objects, next.map { tokens.seal($0.text, scope: scope) } ?? "")
    }

    /// - Throws: INVALID_ARGUMENT with the byte where the filter becomes invalid.
    static func parse(_ filter: String) throws(RPCError) -> ObjectFilter {
        do {
            return try FilterParser.parse(filter)
        } catch {
            throw .invalidArgument("filter: \(error)")
        }
    }

    private func cursor(_ token: String, scope: String) throws(RPCError) -> Cursor? {
        if token.isEmpty { return nil }
        guard let cursor = tokens.open(token, scope: scope).flatMap(Cursor.init) else {
            throw .invalidArgument("page_token must be one that the same caller got for the same filter")
        }
        return cursor
    }

    private static func scope(filter: String, user: UserPrincipal) -> String {
        "objects of \(user.objectScope.map(String.init) ?? "all") for \(user.userID): \(filter)"
    }
}
