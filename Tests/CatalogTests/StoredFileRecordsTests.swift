import Basics
import Database
import DatabaseTesting
import TestSupport
import Testing

@testable import Catalog

/// The search for the files that a device uploaded before.
@Suite(.timeLimited) struct StoredFileRecordsTests {
    private static let owner = ObjectOwner(organizationID: 1, siteID: 1, suiteID: nil, deviceID: "260101-000001")

    private func file(path: String? = "a.mcap", crc64: UInt64? = 9, fileID: String = "") -> LocalFileDescription {
        LocalFileDescription(path: path, size: 10, crc64: crc64, fileID: fileID)
    }

    @Test func purgedObjectIsFoundByItsPathAndByItsID() throws {
        let scene = try CatalogScene()
        var described = scene.newObject(size: 10, device: Self.owner.deviceID)
        described.description = .init(name: FileName("a.mcap"), contentType: ContentType.unknown, crc64: 9)
        let object = described
        try scene.database.writeBlocking { connection in
            let records = ObjectRecords(connection)
            try records.insert(object, tags: [:])
            try records.bury(object, by: "somebody", reason: "", at: scene.clock.now())
            for wanted in [file(), file(crc64: nil), file(path: nil, fileID: object.fileID)] {
                let found = try records.find(wanted, of: Self.owner)
                #expect(found?.state == .deleted && found?.crc64 == 9 && found?.fileID == object.fileID)
            }
            #expect(try records.find(file(path: "b.mcap"), of: Self.owner) == nil)
            #expect(try records.find(file(crc64: 8), of: Self.owner) == nil)
        }
    }

    /// `scripts/sql check` looks at the plans of PostgreSQL.
    @Test(
        .onSQLite,
        arguments: [
            (ObjectRecords<ReadConnection>.objectsLikeFile, "objects_by_path (<expr>=? AND <expr>=? AND size=?)"),
            (
                ObjectRecords<ReadConnection>.deletedLikeFile,
                "deleted_objects_by_path (<expr>=? AND path_digest=? AND size=?)"
            ),
        ])
    func searchUsesTheIndexAlone(_ sql: String, _ index: String) throws {
        let scene = try CatalogScene()
        try scene.add(size: 1, device: "260101-000002")
        try scene.database.readBlocking { connection in
            let plan = try connection.query("EXPLAIN QUERY PLAN \(sql)", "d", "p", 1, 1, 1) { $0.text(3) }
            #expect(plan.count == 1 && plan[0].hasSuffix("USING INDEX \(index)"), "\(plan)")
        }
    }
}
