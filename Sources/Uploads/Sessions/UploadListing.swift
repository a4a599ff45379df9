import Accounts
import Basics
import Database
import GatewayAPI
import ObjectStore
import RPC

/// The rules of ListUploads.
struct UploadListing: Sendable {
    /// The number of rows that are read for one page; an organization with few of many uploads gets short pages.
    private static let visits = 2000

    /// An upload in progress, with its data in the store.
    struct Entry: Sendable {
        let record: UnderWayRecord
        /// The end of the session by the current wall clock.
        let sessionEndsAt: UnixTime
        let partCount: Int
        /// Whether all bytes are stored, but CompleteUpload was not called yet.
        let isWhole: Bool
        /// The name of its organization.
        let organization: String
    }

    let database: Database
    let store: ObjectStore
    let steady: SteadyClock

    /// Returns a page of uploads. Runs off the event loops, because it reads all parts of its uploads.
    ///
    /// - Returns: the uploads, and the one after which the next page begins; `nil` = this is the last page.
    func page(_ page: Page, for user: UserPrincipal) async throws -> (uploads: [Entry], end: String?) {
        try await database.readInBackground { [size = page.size, cursor = page.cursor] connection in
            let found = try UploadRecords(connection).underWay(
                before: cursor.isEmpty ? nil : cursor, limit: PageLimit(rows: max(Self.visits, size)))
            let seen = found.rows.filter { user.objectScope == nil || user.objectScope == $0.organizationID }
            let shown = seen.prefix(size)
            let end = seen.count > size ? shown.last?.id : found.hasMore ? found.rows.last?.id : nil
            let organizations = try OrganizationRecords(connection).names(
                of: Set(shown.map(\.organizationID)), known: user.organization)
            return (
                try shown.map { try entry($0, organizations[$0.organizationID] ?? "", in: connection) }, end
            )
        }
    }

    private func entry(
        _ record: UnderWayRecord, _ organization: String, in connection: ReadConnection
    ) throws -> Entry {
        let snapshot = try store.snapshot(uploadID: record.id, in: connection)
        return Entry(
            record: record, sessionEndsAt: steady.wallTime(of: record.sessionEndsAt),
            partCount: snapshot.object?.partCount ?? snapshot.multiparts.reduce(0) { $0 + $1.partCount },
            isWhole: snapshot.object != nil, organization: organization)
    }
}
