import Database
import ObjectFilters

/// A page of a list in which each folder is one row.
struct FolderedPage {
    /// The largest number of objects that are read at once.
    private static let mostRows = 256

    private(set) var objects: PageRows<ListedObject>
    /// The place after which the next page begins; `nil` = this is the last page.
    private(set) var next: OrderPlace?
    /// The part of the next page's token that is about folders.
    private(set) var cursor: FolderCursor

    private struct Row {
        let placed: PlacedRow
        let folder: ListedFolder?
    }

    /// - Parameters:
    ///   - place: the place before the page; `nil` = it is the first one.
    ///   - cursor: of the page's token; `nil` for the first one.
    init(
        _ query: PageQuery, _ order: ObjectOrder?, after place: OrderPlace?, _ cursor: FolderCursor?,
        in connection: ReadConnection
    ) throws {
        let cursor = try cursor ?? FolderCursor(newest: ObjectOperationRecords(connection).endOfObjects() - 1)
        var folders = FolderGrouping(
            cursor, after: place, order: order, query.filter, scope: query.scope, in: connection)
        var walk = try Self.walk(query, order, after: place, in: connection)
        let (rows, next) = try Self.rows(of: &walk, &folders, after: place, query.limit)
        objects = try ObjectRecords(connection).listed(rows.map(\.placed.row), limit: query.limit, with: query.parts)
        let count = objects.rows.count
        let isCut = count < rows.count
        self.next = isCut ? rows[count - 1].placed.place : next
        self.cursor = folders.next(without: rows[count...].compactMap(\.folder?.folder))
        var folder = rows.lazy.map(\.folder).makeIterator()
        objects = objects.map { object in
            var object = object
            object.folder = folder.next() ?? nil
            return object
        }
    }

    private static func walk(
        _ query: PageQuery, _ order: ObjectOrder?, after place: OrderPlace?, in connection: ReadConnection
    ) throws -> any ObjectWalk {
        guard let order else { return try NewestWalk(query, after: place, in: connection) }
        return try SortedSearch(connection: connection, order: order, filter: query.filter, scope: query.scope)
            .walk(after: place)
    }

    /// Returns the rows of a page before their tags are read, and the place after which the next page begins.
    private static func rows(
        of walk: inout any ObjectWalk, _ folders: inout FolderGrouping, after place: OrderPlace?, _ limit: PageLimit
    ) throws -> (rows: [Row], next: OrderPlace?) {
        var page = PageRows<Row>(limit)
        var last = place
        // After objects that were omitted, more of them are likely to follow.
        var omitted = 0
        while case let found = try walk.next(min(limit.statementRows - page.rows.count + omitted, mostRows)),
            !found.isEmpty
        {
            omitted = 0
            for placed in found {
                guard !folders.isSpent else { return (page.rows, last) }
                switch try folders.decide(placed.row.object) {
                case .omitted: omitted += 1
                case .undecided: return (page.rows, last)
                case .file:
                    guard page.admits(placed.row.size) else { return (page.rows, last) }
                    page.append(Row(placed: placed, folder: nil), bytes: placed.row.size)
                case .first(let folder):
                    let size = placed.row.size + folder.size
                    guard page.admits(size) else { return (page.rows, last) }
                    folders.note(folder)
                    let listed = ListedFolder(folder: folder, contents: try folders.contents(of: folder))
                    page.append(Row(placed: placed, folder: listed), bytes: size)
                }
                last = placed.place
            }
        }
        return (page.rows, walk.rest)
    }
}
