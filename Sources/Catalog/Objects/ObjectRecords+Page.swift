import Accounts
import Database
import ObjectFilters

/// The query for one page of the list.
struct PageQuery: Sendable {
    /// The rows that one search reads on an event loop, at most.
    private static let visitsOnLoop = 200

    /// The organization whose objects are listed; `nil` = all.
    let scope: Int64?
    var filter: ResolvedFilter
    /// The position below which the page begins; `nil` = at the newest object.
    var after: Int64?
    var limit: PageLimit
    /// The number of rows that may be read; the page is short if that is not enough.
    var visits: Int
    var parts = ListedParts()

    /// Returns the query whose words also find display names.
    func resolved(by names: DisplayNameSearch, in connection: ReadConnection) throws -> PageQuery {
        var query = self
        query.filter = try names.resolve(filter, scope: scope, in: connection)
        return query
    }

    /// The query for the part of the page that is read on an event loop; `nil` if each row may need tags to be compared, or if all
    /// positions are read at once.
    var onLoop: PageQuery? {
        guard !filter.withoutRequiredTags.readsTags, !filter.hasRecorded, parts.isEmpty else { return nil }
        var query = self
        query.limit = limit.partOnLoop
        query.visits = min(visits, Self.visitsOnLoop)
        return query
    }

    /// Returns the query for the rest of the page; `nil` if `part`, the result of ``onLoop``, is all of it.
    func rest<Entry>(after part: PageRows<Entry>, next: Int64?) -> PageQuery? {
        guard let next, let limit = limit.rest(after: part) else { return nil }
        var query = self
        query.after = next
        query.limit = limit
        return query
    }
}

/// Additional parts of the objects of a list.
struct ListedParts: Sendable {
    var hasTopics = false
    /// Finds the names of the devices; `nil` = the list has none.
    var deviceNames: DisplayNameSearch?
    var hasOrganizations = false
    var hasTrashing = false

    var isEmpty: Bool { !hasTopics && deviceNames == nil && !hasOrganizations && !hasTrashing }
}

struct ObjectPage: Sendable {
    let rows: PageRows<ObjectRow>
    /// The position below which the next page begins; `nil` = this is the last page.
    let next: Int64?
}

/// The number of objects whose tags one statement reads.
private let tagChunkSize = 100
/// The size for which a tag, a topic or a name counts beside its texts.
private let textOverhead = 16

extension ObjectRecords {
    /// Returns a page, newest objects first. It ends at the limit in bytes as if their tags were read.
    func page(_ query: PageQuery) throws -> ObjectPage {
        let budget = SearchBudget(max(query.visits, query.limit.rows), bytes: query.limit.bytes)
        let search = try ObjectSearch(query.filter, scope: query.scope, in: connection, budget: budget)
        let matches = try search.matches(below: query.after, limit: query.limit.statementRows) { row in
            let row = ObjectRow(row)
            budget.spend(bytes: row.size)
            return row
        }
        var page = PageRows<ObjectRow>(query.limit)
        page.reserve(matches.found.count)
        for match in matches.found {
            guard page.admits(match.value.size) else { return ObjectPage(rows: page, next: match.position + 1) }
            page.append(match.value, bytes: match.value.size)
        }
        if matches.rest != nil { page.end() }
        return ObjectPage(rows: page, next: matches.rest)
    }

    /// Returns objects with their tags: as many of `rows` as fit into a page. No more tags are read than fit into it, and those of a
    /// few objects.
    func listed(
        _ rows: [ObjectRow], limit: PageLimit, with parts: ListedParts = ListedParts()
    ) throws -> PageRows<ListedObject> {
        var page = PageRows<ListedObject>(limit)
        page.reserve(rows.count)
        var start = 0
        while start < rows.count {
            let chunk = Self.tagChunk(of: rows[start...])
            for (object, size) in try objects(of: chunk, with: parts) {
                guard page.admits(size) else { return page }
                page.append(object, bytes: size)
            }
            start = chunk.endIndex
        }
        return page
    }

    /// Returns the first rows whose tags are read together. An object whose tags were not counted is read alone.
    private static func tagChunk(of rows: ArraySlice<ObjectRow>) -> ArraySlice<ObjectRow> {
        let known = rows.prefix(tagChunkSize).prefix { $0.tagBytes != nil }
        return known.isEmpty ? rows.prefix(1) : known
    }

    /// Returns the objects with their sizes in a page.
    private func objects(
        of rows: ArraySlice<ObjectRow>, with parts: ListedParts
    ) throws -> [(object: ListedObject, bytes: Int)] {
        let tags = try tags(at: rows.map(\.position))
        let names = try parts.deviceNames?.devices(of: rows.map(\.object), in: connection) ?? [:]
        let organizations =
            parts.hasOrganizations
            ? try OrganizationRecords(connection).names(of: Set(rows.map(\.object.owner.organizationID))) : [:]
        return try rows.map { row in
            let owner = row.object.owner
            let object = ListedObject(
                object: row.object, tags: tags[row.position] ?? [:],
                topics: parts.hasTopics ? try RecordingRecords(connection).topics(at: row.position) : [],
                deviceName: owner.deviceID.flatMap { names[owner.organizationID]?[$0] } ?? "",
                organization: organizations[owner.organizationID] ?? "",
                trashing: parts.hasTrashing ? try trashing(of: row.object) : nil)
            return (object, row.bytes + object.addedBytes)
        }
    }
}

extension ListedObject {
    /// The size in a page of what is not in the row of the object.
    fileprivate var addedBytes: Int {
        tags.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + textOverhead }
            + topics.reduce(0) { $0 + $1.utf8.count + textOverhead } + deviceName.utf8.count + organization.utf8.count
            + (trashing.map { $0.actor.utf8.count + $0.reason.utf8.count + textOverhead } ?? 0)
    }
}

/// An object of a page whose tags are not read yet.
struct ObjectRow: Sendable {
    let position: Int64
    let object: CatalogObject
    /// The size of the row in bytes, without tags.
    let bytes: Int
    /// The size of the object's tags in bytes; `nil` for objects of versions that did not count them.
    let tagBytes: Int?

    init(_ row: Row) {
        position = row.int64("position")
        object = CatalogObject(row)
        bytes = row.byteCount
        tagBytes = Self.tagBytes(row)
    }

    /// The size of the object in a page, as far as it is known before its tags are read.
    var size: Int { bytes + (tagBytes ?? 0) }

    static func tagBytes(_ row: Row) -> Int? {
        let counted = row.int("tag_bytes")
        return counted == 0 && row.bool("lacks_tag_texts") ? nil : counted
    }
}
