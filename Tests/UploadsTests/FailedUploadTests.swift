import Accounts
import Basics
import Capability
import Database
import DatabaseTesting
import GatewayAPI
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import Uploads

/// The list of uploads that ended without an object.
@Suite(.timeLimited) struct FailedUploadTests {
    private static let day: Int64 = 86_400
    private let scene: Scene

    init() throws {
        scene = try Scene()
    }

    private func list(
        _ request: ListFailedUploadsRequest = ListFailedUploadsRequest(), organization: Int64 = 1,
        isSystem: Bool = false
    ) async throws -> ListFailedUploadsResponse {
        try await scene.management().listFailedUploads(
            request,
            context: scene.context(
                UploadManagementServiceMethods.listFailedUploads, by: "vera", .viewer, of: organization,
                isSystem: isSystem))
    }

    /// Lists all pages of a filter.
    private func pages(_ request: ListFailedUploadsRequest, isSystem: Bool = false) async throws -> [[String]] {
        var (request, pages) = (request, [[String]]())
        repeat {
            let page = try await list(request, isSystem: isSystem)
            pages.append(page.uploads.map(\.uploadID))
            request.pageToken = page.nextPageToken
        } while !request.pageToken.isEmpty && pages.count < 20
        return pages
    }

    /// Aborts a new upload of the caller a second later.
    private func abort(_ caller: Caller) async throws -> String {
        scene.clock.advance(seconds: 1)
        let upload = try await caller.create()
        try await caller.abort(upload.logicalUploadID)
        return upload.uploadID
    }

    private func cancel(_ logicalID: String, reason: String = "") async throws {
        _ = try await scene.management().cancelUpload(
            CancelUploadRequest(logicalUploadID: logicalID, reason: reason),
            context: scene.context(UploadManagementServiceMethods.cancelUpload, by: "olga", .operator, of: 1))
    }

    private func expire() async throws {
        scene.clock.advance(seconds: scene.configuration.sessionIdle.wholeSeconds + 1)
        _ = try await scene.uploads.sweep(scene.permit)
    }

    @Test func abortOfTheDeviceIsListedWithWhatWasStored() async throws {
        let device = try scene.device(1)
        let began = scene.clock.now()
        let upload = try await device.create(hints: ["file_name": "run7.mcap", "file_size": "500000"])
        try scene.initiate(upload.uploadID, parts: 3)
        scene.clock.advance(seconds: 60)
        for reason in ["the file changed", "again"] { try await device.abort(upload.logicalUploadID, reason: reason) }
        #expect(
            try await list().uploads == [
                FailedUpload(
                    logicalUploadID: upload.logicalUploadID, uploadID: upload.uploadID,
                    organization: "organization-1", deviceID: device.deviceID, deviceName: "Picker 041", siteID: 1,
                    fileName: "run7.mcap", fileSizeBytes: 500_000, storedBytes: 3 * Scene.partSize,
                    createdAt: Timestamp(began), endedAt: Timestamp(scene.clock.now()), cause: .aborted,
                    endedBy: "device:\(device.deviceID)", reason: "the file changed")
            ])
    }

    @Test func eachEndHasItsCauseAndItsParty() async throws {
        let site = try scene.site(1)
        let expired = try await site.create()
        try await expire()
        // Its session has ended: that remains the cause.
        try await site.abort(expired.logicalUploadID, reason: "too late")
        let canceled = try await site.create()
        try await cancel(canceled.logicalUploadID)
        let retired = try await scene.device(2).create()
        try await scene.database.write { [scene] connection in
            try UploadEnding(store: scene.store, outbox: scene.outbox).abort(
                ofDevice: "260101-000002", reason: "the device was retired by olga", by: "user:acme/olga",
                at: scene.clock.now(), in: connection)
        }
        let found = try await list().uploads
        #expect(found.map(\.uploadID) == [retired.uploadID, canceled.uploadID, expired.uploadID])
        #expect(found.map(\.cause) == [.deviceRetired, .canceled, .expired])
        #expect(found.map(\.endedBy) == ["user:acme/olga", "user:organization-1/olga", "gateway"])
        #expect(
            found.map(\.reason) == [
                "the device was retired by olga", "canceled by olga",
                "nothing was received until the end of its session",
            ])
        #expect(found.map(\.deviceName) == ["", "", ""])
    }

    @Test func failureStaysAfterARestart() async throws {
        let device = try scene.device()
        let first = try await device.create()
        try await expire()
        let second = try await device.create(restartFrom: first.uploadID)
        #expect(try await list().uploads.map(\.uploadID) == [first.uploadID])
        try await device.abort(second.logicalUploadID)
        let found = try await list().uploads
        #expect(found.map(\.uploadID) == [second.uploadID, first.uploadID])
        #expect(Set(found.map(\.logicalUploadID)) == [first.logicalUploadID])
    }

    @Test func completedAndReplacedUploadsDidNotFail() async throws {
        let device = try scene.device()
        let completed = try await device.create()
        try await device.complete(try scene.store(completed.uploadID))
        try await device.abort(completed.logicalUploadID)
        let replaced = try await device.create()
        try await device.create(restartFrom: replaced.uploadID)
        #expect(try await list().uploads.isEmpty)
    }

    @Test func eachOrganizationSeesItsOwn() async throws {
        let mine = try await abort(try scene.device(1))
        let other = try scene.device(2, site: 3, organization: 2)
        var others: [String] = []
        for _ in 0..<3 { others.insert(try await abort(other), at: 0) }
        #expect(try await list().uploads.map(\.uploadID) == [mine])
        #expect(try await list(organization: 2).uploads.map(\.uploadID) == others)
        let all = try await list(isSystem: true).uploads
        #expect(all.map(\.uploadID) == others + [mine])
        #expect(all.map(\.organization) == Array(repeating: "organization-2", count: 3) + ["organization-1"])
        // Not even whether there are further ones.
        for filter in [
            ListFailedUploadsRequest(deviceID: other.deviceID, pageSize: 1),
            ListFailedUploadsRequest(siteID: 3, pageSize: 1),
            ListFailedUploadsRequest(siteID: 3, causes: [.aborted], pageSize: 1),
        ] {
            #expect(try await list(filter) == ListFailedUploadsResponse())
            #expect(try await Array(pages(filter, isSystem: true).joined()) == others)
        }
    }

    @Test func filtersAreCombined() async throws {
        let (first, second, site) = (try scene.device(1), try scene.device(2, site: 2), try scene.site(1))
        let ofFirst = try await abort(first)
        let time = scene.clock.now()
        let ofSite = try await abort(site)
        let canceled = try await first.create()
        scene.clock.advance(seconds: 1)
        try await cancel(canceled.logicalUploadID)
        let ofSecond = try await abort(second)
        func ids(_ request: ListFailedUploadsRequest) async throws -> [String] {
            try await list(request).uploads.map(\.uploadID)
        }
        typealias Request = ListFailedUploadsRequest
        #expect(try await ids(Request()) == [ofSecond, canceled.uploadID, ofSite, ofFirst])
        #expect(try await ids(Request(deviceID: first.deviceID)) == [canceled.uploadID, ofFirst])
        #expect(try await ids(Request(siteID: 1)) == [canceled.uploadID, ofSite, ofFirst])
        #expect(try await ids(Request(deviceID: first.deviceID, siteID: 2)) == [])
        #expect(try await ids(Request(deviceID: second.deviceID, siteID: 2)) == [ofSecond])
        #expect(try await ids(Request(siteID: 1, causes: [.canceled])) == [canceled.uploadID])
        #expect(try await ids(Request(causes: [.canceled, .aborted])).count == 4)
        #expect(try await ids(Request(causes: [.expired])) == [])
        #expect(try await ids(Request(until: Timestamp(time))) == [])
        #expect(
            try await ids(Request(since: Timestamp(time), until: Timestamp(time.adding(seconds: 1)))) == [ofFirst])
        #expect(try await ids(Request(siteID: 1, since: Timestamp(time.adding(seconds: 1)))).count == 2)
    }

    @Test func wrongFiltersAreRefused() async throws {
        for request in [
            ListFailedUploadsRequest(deviceID: "260101\u{7}"), ListFailedUploadsRequest(causes: [.unspecified]),
            ListFailedUploadsRequest(causes: [.unrecognized(9)]),
            ListFailedUploadsRequest(since: Timestamp(seconds: 1 << 60)),
            ListFailedUploadsRequest(until: Timestamp(seconds: 1 << 60)), ListFailedUploadsRequest(pageSize: -1),
        ] {
            await expectRefusal(.invalidArgument) { try await list(request) }
        }
    }

    @Test func pagesContinueWhereTheOneBeforeEnded() async throws {
        let device = try scene.device()
        var ended: [String] = []
        for _ in 0..<2 { ended.insert(try await abort(device), at: 0) }
        // At the same time as the last.
        for _ in 0..<3 {
            let upload = try await device.create()
            try await device.abort(upload.logicalUploadID)
            ended.insert(upload.uploadID, at: 0)
        }
        for request in [
            ListFailedUploadsRequest(pageSize: 2), ListFailedUploadsRequest(deviceID: device.deviceID, pageSize: 2),
            ListFailedUploadsRequest(siteID: 1, causes: [.aborted], pageSize: 2),
        ] {
            let pages = try await pages(request)
            #expect(pages.map(\.count) == [2, 2, 1])
            #expect(Array(pages.joined()) == ended)
        }
        #expect(try await Array(pages(ListFailedUploadsRequest(pageSize: 2), isSystem: true).joined()) == ended)
        let token = try await list(ListFailedUploadsRequest(pageSize: 2)).nextPageToken
        for request in [
            ListFailedUploadsRequest(siteID: 1, pageToken: token),
            ListFailedUploadsRequest(causes: [.aborted], pageToken: token),
            ListFailedUploadsRequest(until: Timestamp(scene.clock.now()), pageToken: token),
        ] {
            await expectRefusal(.invalidArgument) { try await list(request) }
        }
    }

    @Test func pageOfAFilterReadsALimitedNumberOfRows() async throws {
        let wanted = try await scene.site(1).create()
        try await expire()
        try insertFailures(FailedUploadListing.visits + 10, endedAt: scene.clock.now().adding(seconds: 1))
        let first = try await list(ListFailedUploadsRequest(causes: [.expired]))
        #expect(first.uploads.isEmpty)
        let second = try await list(
            ListFailedUploadsRequest(causes: [.expired], pageToken: first.nextPageToken))
        #expect(second.uploads.map(\.uploadID) == [wanted.uploadID] && second.nextPageToken.isEmpty)
    }

    /// Inserts failures of device 1 that a user canceled.
    private func insertFailures(_ count: Int, endedAt: UnixTime) throws {
        try scene.database.writeBlocking { connection in
            _ = try connection.execute(
                """
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
                INSERT INTO failed_uploads (id, logical_id, organization_id, site_id, device_id, cause, reason, ended_by,
                    stored_bytes, created_at, ended_at)
                SELECT 'old-' || i, 'old', 1, 1, '260101-000001', 2, '', '', 0, 0, $2 FROM n
                """, count, endedAt.microseconds)
        }
    }

    /// `scripts/sql check` looks at the plans of PostgreSQL.
    @Test(
        .onSQLite,
        arguments: [
            (FailureStatements.all, "time (ended_at>?"),
            (FailureStatements.ofOrganization, "organization (organization_id=?"),
            (FailureStatements.ofSite, "site (site_id=?"), (FailureStatements.ofDevice, "device (device_id=?"),
        ])
    func pageFollowsAnIndex(_ sql: String, _ index: String) throws {
        try scene.database.readBlocking { connection in
            let explained = "EXPLAIN QUERY PLAN " + sql.replacing("$5", with: "'1'")
            let plan = try connection.query(explained, 1, 1, "d", 1) { $0.text(3) }
            #expect(plan.count == 1 && plan[0].contains("USING INDEX failed_uploads_by_\(index)"), "\(plan)")
        }
    }

    @Test func failuresAreForgottenWithTheRecordsOfUploads() async throws {
        let device = try scene.device()
        let old = try await abort(device)
        let retention = UploadRetention(database: scene.database, age: .days(400))
        scene.clock.advance(seconds: 400 * Self.day)
        try insertFailures(UploadRetention.batch + 1, endedAt: scene.clock.now().adding(seconds: -401 * Self.day))
        _ = try await retention.run(scene.permit)
        #expect(try await list().uploads.map(\.uploadID) == [old])
        let young = try await abort(device)
        scene.clock.advance(seconds: Self.day)
        _ = try await retention.run(scene.permit)
        #expect(try await list().uploads.map(\.uploadID) == [young])
    }

    @Test func deletedOrganizationLeavesNoFailures() async throws {
        _ = try await abort(try scene.device(2, site: 3, organization: 2))
        try await scene.database.write { connection in
            for statement in [
                "DELETE FROM uploads", "DELETE FROM logical_uploads", "DELETE FROM api_keys",
                "DELETE FROM sites WHERE organization_id = 2", "DELETE FROM organizations WHERE id = 2",
            ] {
                _ = try connection.execute(statement)
            }
        }
        #expect(try await list(isSystem: true).uploads.isEmpty)
    }

    /// Rows that an earlier version left get failures with what they say.
    @Test(.onSQLite) func uploadsOfEarlierVersionsAreListed() async throws {
        let device = try scene.device()
        let expired = try await device.create(hints: ["file_name": "a.mcap"])
        try await expire()
        let aborted = try await device.create()
        try await device.abort(aborted.logicalUploadID, reason: "disk error")
        let canceled = try await device.create()
        try await cancel(canceled.logicalUploadID)
        _ = try await device.create()
        let before = try await list().uploads
        try await scene.database.write { connection in
            _ = try connection.execute("DROP TABLE failed_uploads")
            for statement in UploadSchema.failuresMigration.sql.split(separator: ";")
            where statement.contains(where: { !$0.isWhitespace }) {
                _ = try connection.execute(String(statement))
            }
        }
        let found = try await list().uploads
        #expect(Set(found.map(\.uploadID)) == Set(before.map(\.uploadID)))
        let causes = Dictionary(uniqueKeysWithValues: found.map { ($0.uploadID, $0.cause) })
        #expect(causes == [expired.uploadID: .expired, aborted.uploadID: .aborted, canceled.uploadID: .canceled])
        let swept = try #require(found.first { $0.cause == .expired })
        #expect(swept.fileName == "a.mcap" && swept.endedBy == "gateway")
        #expect(swept.endedAt == Timestamp(try scene.record(expired.uploadID).sessionEndsAt))
        #expect(found.first { $0.cause == .aborted }?.reason == "disk error")
    }
}
