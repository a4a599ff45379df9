import Accounts
import Basics
import Database
import GatewayAPI
import ObjectFilters
import Proto
import RPC
import TimeZones

/// The rules of ListObjects.
///
/// Pages follow the position that an object got when it was verified, in descending order: it never changes, and new objects have
/// higher ones, so a walk neither repeats nor skips objects that existed at its start. A page token is that position, sealed with
/// the filter and the caller.
struct ObjectListing: Sendable {
    let database: Database
    let tokens: PageTokens
    let clock: any WallClock
    let names: DisplayNameSearch
    let configuration: CatalogConfiguration
    let zones: TimeZoneFolder

    /// - Returns: the objects with their tags, and the token of the next page, which is empty on the last page.
    func page(
        _ request: ListObjectsRequest, for user: UserPrincipal
    ) async throws -> (objects: [ListedObject], next: String) {
        let filter = try RequestedFilter(request.filter, timeZone: request.timeZone, in: zones)
        let order = try ObjectOrder.parse(request.orderBy)
        let hasFolders = request.groupFolders
        let requested = try Page(
            size: request.pageSize, token: request.pageToken, tokens: tokens,
            scope: Self.scope(
                [request.filter, request.orderBy, request.timeZone, hasFolders ? "folders" : ""], for: user))
        let cursor = try requested.cursor { PageCursor($0, order: order, hasFolders: hasFolders) }
        let now = cursor?.now ?? clock.now().seconds
        let query = PageQuery(
            scope: user.objectScope, filter: filter.resolved(at: now).hidingTrash, after: cursor?.place.position,
            limit: requested.limit, visits: configuration.pageVisits,
            parts: ListedParts(
                hasTopics: request.withTopics, deviceNames: request.withDeviceNames ? names : nil,
                hasOrganizations: request.withOrganizations, hasTrashing: request.withTrashing))
        let page =
            if hasFolders {
                try await database.readInBackground { connection in
                    let page = try FolderedPage(
                        query.resolved(by: names, in: connection), order, after: cursor?.place, cursor?.folders,
                        in: connection)
                    return ListedPage(objects: page.objects, next: page.next, folders: page.cursor)
                }
            } else if let order {
                try await database.readInBackground { connection in
                    let query = try query.resolved(by: names, in: connection)
                    return try Self.sortedPage(query, order, after: cursor?.place, in: connection)
                }
            } else {
                try await newestFirst(query)
            }
        let next = page.next.map {
            PageCursor(place: $0, now: filter.filter.dependsOnTime ? now : nil, folders: page.folders).text
        }
        return (page.objects.rows, next.map(requested.token) ?? "")
    }

    private struct ListedPage: Sendable {
        var objects: PageRows<ListedObject>
        /// `nil` = this is the last page.
        var next: OrderPlace?
        /// The part of the next page's token that a list with folders has.
        var folders: FolderCursor?
    }

    /// Reads a short page on the loop, and the rest of a longer one in the background.
    private func newestFirst(_ query: PageQuery) async throws -> ListedPage {
        guard let first = query.onLoop else {
            return try await database.readInBackground { try Self.page(query.resolved(by: names, in: $0), in: $0) }
        }
        guard database.readsInPlace else { return try await database.read { try Self.page(query, in: $0) } }
        var page = try await database.read { try Self.page(first, in: $0) }
        guard let rest = query.rest(after: page.objects, next: page.next?.position) else { return page }
        let further = try await database.readInBackground { try Self.page(rest, in: $0) }
        page.objects.append(rest: further.objects)
        page.next = further.next
        return page
    }

    private static func page(_ query: PageQuery, in connection: ReadConnection) throws -> ListedPage {
        let records = ObjectRecords(connection)
        let page = try records.page(query)
        var objects = try records.listed(page.rows.rows, limit: query.limit, with: query.parts)
        let rows = page.rows.rows
        let next = objects.rows.count < rows.count ? rows[objects.rows.count].position + 1 : page.next
        if next != nil { objects.end() }
        return ListedPage(objects: objects, next: next.map { OrderPlace(value: .number(0), position: $0) })
    }

    private static func sortedPage(
        _ query: PageQuery, _ order: ObjectOrder, after: OrderPlace?, in connection: ReadConnection
    ) throws -> ListedPage {
        let search = SortedSearch(connection: connection, order: order, filter: query.filter, scope: query.scope)
        let page = try search.page(after: after, limit: query.limit)
        let rows = page.found.rows
        let objects = try ObjectRecords(connection).listed(rows.map(\.row), limit: query.limit, with: query.parts)
        let isCut = objects.rows.count < rows.count
        return ListedPage(objects: objects, next: isCut ? rows[objects.rows.count - 1].place : page.next)
    }

    /// - Parameter texts: the filter, and what else decides about the pages; empty texts at the end change nothing.
    private static func scope(_ texts: [String], for user: UserPrincipal) -> String {
        var texts = texts
        while texts.count > 1, texts.last == "" { texts.removeLast() }
        return "objects of \(user.objectScope.map(String.init) ?? "all") for \(user.userID): "
            + texts.joined(separator: "\u{0}")
    }
}

/// The position of a page in a token: `POSITION`, `POSITION NOW VALUE`, or `POSITION NOW FOLDERS VALUE`.
private struct PageCursor {
    let place: OrderPlace
    /// Seconds since 1970: the time to which ages and days refer on all pages of a walk.
    let now: Int64?
    /// The part that a list with folders has.
    let folders: FolderCursor?

    init(place: OrderPlace, now: Int64?, folders: FolderCursor?) {
        self.place = place
        self.now = now
        self.folders = folders
    }

    init?(_ text: String, order: ObjectOrder?, hasFolders: Bool) {
        var parts = text.split(separator: " ", maxSplits: hasFolders ? 3 : 2, omittingEmptySubsequences: false)
        guard let position = Int64(parts[0]) else { return nil }
        if hasFolders {
            guard parts.count == 4, let folders = FolderCursor(parts.remove(at: 2)) else { return nil }
            self.folders = folders
        } else {
            folders = nil
        }
        now = parts.count > 1 ? Int64(parts[1]) : nil
        let value = parts.count == 3 ? String(parts[2]) : "0"
        switch order?.key {
        case .name: place = OrderPlace(value: .text(value), position: position)
        case .created, .recorded, .size, nil:
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
        let folders = folders.map { " \($0.text)" } ?? ""
        return "\(place.position) \(now.map(String.init) ?? "-")\(folders) \(value)"
    }
}

/// An object in lists, with its tags.
struct ListedObject: Sendable {
    let object: CatalogObject
    let tags: [String: String]
    /// The folder that the object represents; `nil` = none.
    var folder: ListedFolder?
    /// The first topics of a recording, in lists with topics.
    var topics: [String] = []
    /// The display name of the device, in lists with names; empty = none.
    var deviceName = ""
    /// The name of the organization, in lists with organizations.
    var organization = ""
    /// Why the object is in the trash, in lists with it; `nil` = it is not there.
    var trashing: Trashing?
}

extension DataObject {
    init(_ listed: ListedObject) {
        let (object, description) = (listed.object, listed.object.description)
        self.init(
            objectID: object.id, fileID: object.fileID, status: object.isBad ? .bad : .verified,
            sizeBytes: object.content.size, createdAtUnix: object.times.createdAt.seconds,
            uploadedAtUnix: object.times.uploadedAt.seconds, verifiedAtUnix: object.times.verifiedAt.seconds,
            etag: object.content.etag, name: object.name(tags: listed.tags).text,
            contentType: description.contentType, deviceID: object.owner.deviceID ?? "", siteID: object.owner.siteID,
            tags: listed.tags, crc64Ecma: description.crc64.map { String($0) } ?? "",
            recordedFrom: description.recordedFrom.map { Timestamp($0) },
            recordedTo: description.recordedTo.map { Timestamp($0) }, trashedAt: object.trashedAt.map { Timestamp($0) },
            relativePath: description.relativePath?.text ?? "", folder: listed.folder.map { ObjectFolder($0) },
            topics: listed.topics, deviceName: listed.deviceName, organization: listed.organization,
            trashedBy: listed.trashing?.actor ?? "", trashReason: listed.trashing?.reason ?? "",
            purgeAt: listed.trashing.map { Timestamp($0.purgeAt) })
    }
}

extension ObjectFolder {
    init(_ listed: ListedFolder) {
        let contents = listed.contents
        self.init(
            path: listed.folder.path, filter: listed.folder.filter, objects: Int64(contents.objects),
            sizeBytes: contents.bytes, isLowerBound: contents.isLowerBound,
            recordedFrom: contents.recordedFrom.map { Timestamp($0) },
            recordedTo: contents.recordedTo.map { Timestamp($0) })
    }
}
