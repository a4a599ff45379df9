import Basics
import Database
import FileTesting
import GatewayFormats
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import Catalog

/// Days by the recording, in the zone of the request.
@Suite(.timeLimited) struct RecordingDayTests {
    private static let zones = [
        "", "UTC", "Pacific/Auckland", "Asia/Kathmandu", "Australia/Lord_Howe", "America/Sao_Paulo",
    ]

    private let scene: CatalogScene

    init() throws {
        scene = try CatalogScene()
    }

    /// Adds an object.
    ///
    /// - Parameter recordedAt: the time of its first message in seconds since 1970; `nil` = unknown.
    @discardableResult
    private func add(size: Int64, recordedAt: Int64?, organization: Int64 = 1) throws -> CatalogObject {
        var object = scene.newObject(size: size, organization: organization)
        object.description = CatalogObject.Description(
            name: FileName("\(size).bin"), contentType: "text/plain", crc64: 1,
            recordedFrom: recordedAt.map { UnixTime(seconds: $0) })
        try scene.database.writeBlocking { [object] in try ObjectRecords($0).insert(object, tags: [:]) }
        return object
    }

    /// Adds objects around the changes of the zones' clocks: on both sides of the quarter hours there, and at other times.
    private func fill() throws {
        var size: Int64 = 0
        // In April and September, Auckland and Lord Howe change; Sao Paulo did so in 2018.
        for start: Int64 in [1_775_260_800, 1_790_380_800, 1_541_203_200, 1_518_825_600] {
            for quarter in stride(from: Int64(0), to: 192, by: 3) {
                size += 1
                try add(size: size, recordedAt: start + quarter * 900 - size % 2)
            }
        }
        for _ in 0..<20 {
            size += 1
            try add(size: size, recordedAt: nil)
            scene.clock.advance(seconds: 7777)
        }
        try add(size: 5000, recordedAt: 1_775_260_800, organization: 2)
    }

    private func days(
        _ filter: String = "", in zone: String, isSystem: Bool = false
    ) async throws -> [String: Int64] {
        let found = try await scene.management.getObjectFacets(
            GetObjectFacetsRequest(filter: filter, facet: "recorded", valueLimit: 1000, timeZone: zone),
            context: scene.context(
                ObjectManagementServiceMethods.getObjectFacets, as: scene.user(1, isSystem: isSystem)))
        let facet = try #require(found.facets.first)
        #expect(facet.values.map(\.value) == facet.values.map(\.value).sorted(by: >))
        #expect(facet.totalValues == Int64(facet.values.count))
        return Dictionary(uniqueKeysWithValues: facet.values.map { ($0.value, $0.objects) })
    }

    private func list(
        _ filter: String, in zone: String = "", size: Int32 = 1000, token: String = "", order: String = ""
    ) async throws -> ListObjectsResponse {
        try await scene.service.listObjects(
            ListObjectsRequest(pageSize: size, pageToken: token, filter: filter, orderBy: order, timeZone: zone),
            context: scene.context(DataGatewayObjectServiceMethods.listObjects))
    }

    private func countWrong() throws -> Int {
        try scene.database.readBlocking { try RecordingCounts($0).countWrong() }
    }

    @Test(arguments: zones) func sumsOfQuarterHoursAreTheObjectsOfEachDay(_ zone: String) async throws {
        try fill()
        let all = try await days(in: zone)
        #expect(all.values.reduce(0, +) == 276)
        // The same by counting the matches of a filter.
        #expect(try await days("size>0", in: zone) == all)
        for (day, objects) in all {
            let found = try await list("recorded=\(day)", in: zone).objects
            #expect(Int64(found.count) == objects, "\(day)")
            #expect(try await list("NOT recorded=\(day)", in: zone).objects.count == 276 - found.count)
        }
        #expect(try await days(in: zone, isSystem: true).values.reduce(0, +) == 277)
        #expect(try countWrong() == 0)
    }

    @Test func zonesHaveDifferentDays() async throws {
        try add(size: 1, recordedAt: 1_795_305_600)
        #expect(try await days(in: "") == ["2026-11-22": 1])
        #expect(try await days(in: "America/Sao_Paulo") == ["2026-11-21": 1])
        #expect(try await list("recorded=2026-11-21", in: "America/Sao_Paulo").objects.count == 1)
        #expect(try await list("recorded=2026-11-21").objects.isEmpty)
    }

    @Test func unknownZoneIsRefused() async throws {
        let error = await refusal { _ = try await list("", in: "Mars/Base") }
        #expect(error?.detail == .invalidArgument)
        #expect(
            error?.message
                == "time_zone must be empty or a name of the time zone database, such as UTC or Europe/Berlin")
        #expect(await refusal { _ = try await days(in: "Mars/Base") }?.detail == .invalidArgument)
    }

    @Test func recordedTimeThatArrivesLaterMovesTheObject() async throws {
        let message = MCAPFile.message(at: 1_700_000_000_000_000_000)
        let object = try scene.add(bytes: MCAPFile.file(MCAPFile.channel("/imu") + message, []))
        try add(size: 2, recordedAt: nil)
        try scene.database.writeBlocking { connection in
            let position = try connection.first("SELECT position FROM objects WHERE id = $1", object.id) {
                $0.int64("position")
            }
            try RecordingRecords(connection).enqueue(position: try #require(position), organizationID: 1)
        }
        #expect(try await days(in: "") == ["2026-01-01": 2])
        let index = RecordingIndex(database: scene.database, store: scene.store, signal: Signal(), log: .discarding)
        #expect(try await index.readNext())
        #expect(try await days(in: "") == ["2026-01-01": 1, "2023-11-14": 1])
        #expect(try await list("recorded=2023-11-14").objects.map(\.fileID) == [object.fileID])
        #expect(try countWrong() == 0)
    }

    @Test func trashIsNotCounted() async throws {
        let object = try add(size: 1, recordedAt: 1_700_000_000)
        let caller = try scene.caller()
        try scene.setTrash(days: 7)
        _ = try await scene.removal.delete(object.fileID, reason: "", by: caller)
        #expect(try await days(in: "").isEmpty)
        _ = try await scene.removal.restore(object.fileID, by: caller)
        #expect(try await days(in: "") == ["2023-11-14": 1])
        #expect(try countWrong() == 0)
    }

    @Test func wrongCountIsFoundAndRenewed() async throws {
        try fill()
        let right = try await days(in: "")
        _ = try await scene.database.write {
            try $0.execute("UPDATE object_facets SET objects = objects + 1 WHERE kind = 7 AND value > '203500000'")
        }
        #expect(try countWrong() > 0)
        _ = try await scene.database.write { try RecordingCounts($0).renew() }
        #expect(try countWrong() == 0)
        #expect(try await days(in: "") == right)
    }

    /// All pages have the days of the first one, also after midnight.
    @Test func pagesKeepTheirDays() async throws {
        for size: Int64 in 1...6 { try add(size: size, recordedAt: scene.clock.now().seconds) }
        let first = try await list("recorded=today", size: 2)
        #expect(first.objects.count == 2)
        scene.clock.advance(seconds: 86_400)
        let rest = try await list("recorded=today", size: 100, token: first.nextPageToken)
        #expect(rest.objects.count == 4)
        #expect(try await list("recorded=today").objects.isEmpty)
        #expect(try await list("recorded=yesterday").objects.count == 6)
        // A token belongs to its zone.
        let other = await refusal {
            _ = try await list("recorded=today", in: "Pacific/Auckland", token: first.nextPageToken)
        }
        #expect(other?.detail == .invalidArgument)
    }

    @Test(arguments: ["", "recorded>=1970-01-01"]) func listIsSortedByTheRecording(_ filter: String) async throws {
        let times: [Int64?] = [1_700_000_000, nil, 1_600_000_000, 1_700_000_001]
        for (size, time) in times.enumerated() { try add(size: Int64(size), recordedAt: time) }
        #expect(try await list(filter, order: "recorded").objects.map(\.sizeBytes) == [2, 0, 3, 1])
        #expect(try await list(filter, order: "recorded desc").objects.map(\.sizeBytes) == [1, 3, 0, 2])
    }

    @Test func deletionByDayUsesTheZone() async throws {
        try add(size: 1, recordedAt: 1_795_305_600)
        try add(size: 2, recordedAt: 1_795_305_600 + 43_200)
        let context = scene.context(ObjectManagementServiceMethods.deleteObjects)
        let reply = try await scene.management.deleteObjects(
            DeleteObjectsRequest(filter: "recorded=2026-11-21", timeZone: "America/Sao_Paulo"), context: context)
        #expect(reply.matchingObjects == 1 && reply.operation?.timeZone == "America/Sao_Paulo")
        let id = try #require(reply.operation?.operationID)
        try await scene.bulkOperations.runner.step(id)
        #expect(try await scene.sizes() == [2])
        let refused = await refusal {
            _ = try await scene.management.deleteObjects(
                DeleteObjectsRequest(filter: "recorded=yesterday"), context: context)
        }
        #expect(
            refused?.message == """
                filter: byte 9: expected a date such as 2026-01-31, because this filter selects what changes, also after \
                midnight, found "yesterday"
                """)
    }
}
