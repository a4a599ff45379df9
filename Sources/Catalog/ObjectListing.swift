import Accounts
import Database
import GatewayAPI
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
    let configuration: CatalogConfiguration

    /// - Returns: the objects with their tags, and the token of the next page, empty where there is none.
    func page(
        size: Int32, token: String, filter: String, for user: UserPrincipal
    ) async throws -> (objects: [ListedObject], next: String) {
        guard size >= 0 else { throw RPCError.invalidArgument("page_size must be at least 0") }
        let scope = Self.scope(filter: filter, user: user)
        let query = PageQuery(
            scope: user.objectScope, filter: try Self.parse(filter), after: try position(token, scope: scope),
            size: size == 0 ? Self.defaultPageSize : min(Int(size), Self.maximumPageSize),
            visits: configuration.pageVisits)
        let (page, tags) = try await database.read { connection in
            let records = ObjectRecords(connection)
            let page = try records.page(query)
            return (page, try records.tags(of: page.objects))
        }
        let objects = page.objects.map { ListedObject(object: $0, tags: tags[$0.fileID] ?? [:]) }
        return (objects, page.next.map { tokens.seal(String($0), scope: scope) } ?? "")
    }

    private static func parse(_ filter: String) throws(RPCError) -> ObjectFilter {
        do {
            return try FilterParser.parse(filter)
        } catch {
            throw .invalidArgument("filter: \(error)")
        }
    }

    private func position(_ token: String, scope: String) throws(RPCError) -> Int64? {
        if token.isEmpty { return nil }
        guard let position = tokens.open(token, scope: scope).flatMap({ Int64($0) }) else {
            throw .invalidArgument("page_token was not issued for this filter and caller")
        }
        return position
    }

    private static func scope(filter: String, user: UserPrincipal) -> String {
        "objects of \(user.objectScope.map(String.init) ?? "all") for \(user.userID): \(filter)"
    }
}
