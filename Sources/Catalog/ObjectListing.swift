import Accounts
import Basics
import Database
import GatewayAPI
import ObjectFilters
import RPC

/// The rules of ListObjects.
///
/// Pages follow the position that an object got when it was verified, in descending order: it never changes, and new objects have
/// higher ones, so a walk neither repeats nor skips objects that existed at its start. A page token is that position, sealed with
/// the filter and the caller.
struct ObjectListing: Sendable {
    static let defaultPageSize = 50
    static let maximumPageSize = 1000

    let database: Database
    let tokens: PageTokens
    let clock: any WallClock
    let configuration: CatalogConfiguration

    /// - Returns: the objects with their tags, and the token of the next page, which is empty on the last page.
    func page(
        size: Int32, token: String, filter text: String, order orderText: String = "", for user: UserPrincipal
    ) async throws -> (objects: [ListedObject], next: String) {
        guard size >= 0 else { throw RPCError.invalidArgument("page_size must be at least 0") }
        let scope = Self.scope(filter: text, order: orderText, user: user)
        let (filter, order) = (try Self.parse(text), try ObjectOrder.parse(orderText))
        let cursor = try cursor(token, order, scope: scope)
        let now = cursor?.now ?? clock.now().seconds
        let query = PageQuery(
            scope: user.objectScope, filter: filter.resolved(at: now).hidingTrash, after: cursor?.place.position,
            size: size == 0 ? Self.defaultPageSize : min(Int(size), Self.maximumPageSize),
            visits: configuration.pageVisits)
        let (objects, next) =
            if let order {
                try await database.readInBackground { connection in
                    try Self.sortedPage(query, order, after: cursor?.place, in: connection)
                }
            } else {
                try await database.read { try Self.page(query, in: $0) }
            }
        let token = next.map { PageCursor(place: $0, now: filter.hasAge ? now : nil).text }
        return (objects, token.map { tokens.seal($0, scope: scope) } ?? "")
    }

    private static func page(
        _ query: PageQuery, in connection: ReadConnection
    ) throws -> (objects: [ListedObject], next: OrderPlace?) {
        let records = ObjectRecords(connection)
        let page = try records.page(query)
        return (
            try listed(page.objects, records), page.next.map { OrderPlace(value: .number(0), position: $0) }
        )
    }

    private static func sortedPage(
        _ query: PageQuery, _ order: ObjectOrder, after: OrderPlace?, in connection: ReadConnection
    ) throws -> (objects: [ListedObject], next: OrderPlace?) {
        let search = SortedSearch(connection: connection, order: order, filter: query.filter, scope: query.scope)
        let page = try search.page(after: after, size: query.size)
        return (try listed(page.found.map(\.object), ObjectRecords(connection)), page.next)
    }

    private static func listed(
        _ objects: [CatalogObject], _ records: ObjectRecords<some ReadConnection>
    ) throws -> [ListedObject] {
        let tags = try records.tags(of: objects)
        return objects.map { ListedObject(object: $0, tags: tags[$0.fileID] ?? [:]) }
    }

    /// - Throws: INVALID_ARGUMENT with the position of the first invalid byte.
    static func parse(_ filter: String) throws(RPCError) -> ObjectFilter {
        do {
            return try FilterParser.parse(filter)
        } catch {
            throw .invalidArgument("filter: \(error)")
        }
    }

    private func cursor(_ token: String, _ order: ObjectOrder?, scope: String) throws(RPCError) -> PageCursor? {
        if token.isEmpty { return nil }
        guard let cursor = tokens.open(token, scope: scope).flatMap({ PageCursor($0, order: order) }) else {
            throw .invalidArgument("page_token was not issued for this filter, order and caller")
        }
        return cursor
    }

    private static func scope(filter: String, order: String, user: UserPrincipal) -> String {
        "objects of \(user.objectScope.map(String.init) ?? "all") for \(user.userID): \(filter)"
            + (order.isEmpty ? "" : "\u{0}\(order)")
    }
}

/// The position of a page in a token: `POSITION`, or `POSITION NOW VALUE`.
private struct PageCursor {
    let place: OrderPlace
    /// Seconds since 1970: the time to which ages refer on all pages of a walk.
    let now: Int64?

    init(place: OrderPlace, now: Int64?) {
        self.place = place
        self.now = now
    }

    init?(_ text: String, order: ObjectOrder?) {
        let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard let position = Int64(parts[0]) else { return nil }
        now = parts.count > 1 ? Int64(parts[1]) : nil
        let value = parts.count == 3 ? String(parts[2]) : "0"
        switch order?.key {
        case .name: place = OrderPlace(value: .text(value), position: position)
        case .created, .size, nil:
            guard let number = Int64(value) else { return nil }
            place = OrderPlace(value: .number(number), position: position)
        }
    }

    var text: String {
        let value =
            switch place.value {
            case .number(let number): String(number)
            case .text(let text): text
            }
        return "\(place.position) \(now.map(String.init) ?? "-") \(value)"
    }
}
