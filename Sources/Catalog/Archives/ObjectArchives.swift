import Accounts
import Basics
import Database
import GatewayFormats
import ObjectFilters
import ObjectStore
import Proto
import RPC
import TimeZones
import Wire

/// The rules of ZipObjects.
final class ObjectArchives: Sendable {
    /// The number of ids in one line of the audit log.
    private static let auditedIDs = 1000
    /// The number of rows in one read of a search.
    private static let rows = 2000

    private let database: Database
    private let store: ObjectStore
    private let clock: any WallClock
    private let names: DisplayNameSearch
    private let configuration: CatalogConfiguration
    private let limits: LimitCounts
    /// The places for archives that are being sent, shared by organizations and their users.
    private let places: SharedSlots<Int64>

    init(
        database: Database, store: ObjectStore, clock: any WallClock, names: DisplayNameSearch,
        configuration: CatalogConfiguration, limits: LimitCounts = LimitCounts()
    ) {
        self.database = database
        self.store = store
        self.clock = clock
        self.names = names
        self.configuration = configuration
        self.limits = limits
        places = SharedSlots(limit: configuration.archives)
    }

    /// Selects the objects of an archive, records the download, and passes the archive to `send`.
    ///
    /// - Parameters:
    ///   - fileIDs: file ids; none if there is a filter.
    ///   - filter: a filter as in ListObjects; `nil` if there are ids.
    func make(
        of fileIDs: [String], filter: RequestedFilter?, by caller: Caller, send: (ArchivePieces) async throws -> Void
    ) async throws {
        let place = try place(for: caller.user)
        defer { withExtendedLifetime(place) {} }
        let files = try await select(fileIDs, filter: filter, by: caller)
        try await send(ArchivePieces(files, store: store))
    }

    /// Takes the place of one archive.
    ///
    /// - Throws: OVERLOADED if the user, their organization or all organizations have as many as they may.
    private func place(for user: UserPrincipal) throws(RPCError) -> SharedSlots<Int64>.Slot {
        do throws(SlotShortage) {
            return try places.take(for: user.home.id, member: "\(user.userID)")
        } catch {
            limits.reached("archives")
            let message =
                switch error.scope {
                case .member: "the user already downloads \(error.count) archives: wait until one is complete"
                case .owner: "the organization already downloads \(error.count) archives: wait until one is complete"
                case .all: "\(error.count) archives are being downloaded: try again later"
                }
            throw RPCError(.overloaded, message, retryAfterMilliseconds: 30_000)
        }
    }

    private func select(
        _ fileIDs: [String], filter: RequestedFilter?, by caller: Caller
    ) async throws -> [ArchivedFile] {
        guard fileIDs.isEmpty != (filter == nil) else {
            throw RPCError.invalidArgument("either file_ids or filter must be set")
        }
        let objects =
            if let filter {
                try await search(filter, for: caller.user)
            } else {
                try await find(fileIDs, for: caller.user)
            }
        let ids = objects.files.map(\.file.fileID)
        let now = clock.now()
        // Committed before the response: no download may be missing from the log.
        try await database.write(mayUseReserve: true) { connection in
            for start in stride(from: 0, to: ids.count, by: Self.auditedIDs) {
                let some = Array(ids[start..<min(start + Self.auditedIDs, ids.count)])
                try Audit.record(caller.did(to: some, of: "files"), at: now, in: connection)
            }
            for (organizationID, amount) in objects.amounts {
                try StatisticsRecords(connection).addRequested(amount, organizationID: organizationID, at: now)
            }
        }
        return objects.files
    }

    /// The objects of an archive, with their amount for each organization.
    private struct Selected: Sendable {
        private(set) var files: [ArchivedFile] = []
        private(set) var amounts: [Int64: Amount] = [:]
        private var names = ArchiveNames()

        mutating func add(_ objects: [CatalogObject], in connection: ReadConnection) throws {
            let crc32s = try StoredFile.crc32s(of: objects.map(\.fileID), in: connection)
            for object in objects {
                guard object.description.crc64 != nil else {
                    throw RPCError.failedPrecondition(
                        "the checksum of object \(object.fileID) is still being recorded: try again later")
                }
                let name = try ObjectRecords(connection).name(of: object)
                files.append(names.name(object, name: name, crc32: crc32s[object.fileID]))
                amounts[object.owner.organizationID, default: Amount()].objects += 1
                amounts[object.owner.organizationID, default: Amount()].bytes += object.content.size
            }
        }
    }

    private func find(_ fileIDs: [String], for user: UserPrincipal) async throws -> Selected {
        try FileIDs.check(fileIDs, limit: configuration.archivedObjects)
        return try await database.readInBackground { connection in
            var selected = Selected()
            try selected.add(
                try ObjectRecords(connection).objects(ids: fileIDs, scope: user.objectScope), in: connection)
            return selected
        }
    }

    private func search(_ requested: RequestedFilter, for user: UserPrincipal) async throws -> Selected {
        let filter = requested.resolved(at: clock.now().seconds).hidingTrash
        var selected = Selected()
        var after: Int64? = nil
        repeat {
            try Task.checkCancellation()
            let query = PageQuery(
                scope: user.objectScope, filter: filter, after: after,
                limit: PageLimit(rows: Self.rows, bytes: .max), visits: Self.rows)
            // Separate reads, so that none of them delays the database's checkpoints for long.
            (selected, after) = try await database.readInBackground { [selected, names] connection in
                var selected = selected
                let page = try ObjectRecords(connection).page(query.resolved(by: names, in: connection))
                try selected.add(page.rows.rows.map(\.object), in: connection)
                return (selected, page.next)
            }
            guard selected.files.count <= configuration.archivedObjects else {
                throw RPCError.invalidArgument(
                    "an archive can have at most \(configuration.archivedObjects) objects: use a narrower filter")
            }
        } while after != nil
        guard !selected.files.isEmpty else { throw RPCError.notFound("the filter matches no objects") }
        return selected
    }
}

/// The gRPC service ObjectArchiveService, which converts messages and calls the rules.
struct ObjectArchiveService: ObjectArchiveServiceHandler {
    let archives: ObjectArchives
    let clock: any WallClock
    let zones: TimeZoneFolder

    func zipObjects(
        _ request: ZipObjectsRequest, responses: ResponseWriter<HttpBody>, context: CallContext
    ) async throws {
        let time = CivilTime(clock.now()).textForFileName
        context.responseMetadata.append(
            name: "content-disposition", value: "attachment; filename=\"objects-\(time).zip\"")
        let contentType = "application/zip"
        let filter =
            request.filter.isEmpty
            ? nil : try RequestedFilter(request.filter, timeZone: request.timeZone, in: zones)
        try await archives.make(of: request.fileIDs, filter: filter, by: try Caller(context)) { pieces in
            context.responseLength = try await pieces.length()
            if try await context.send(pieces, as: contentType) { return }
            try await pieces.forEachPiece { try await responses.write(HttpBody(contentType: contentType, data: $0)) }
        }
    }
}
