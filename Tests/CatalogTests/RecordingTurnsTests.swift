import Basics
import Database
import TestSupport
import Testing

@testable import Catalog

@Suite(.timeLimited) struct RecordingTurnsTests {
    @Test func organizationsTakeTurnsHoweverManyRecordingsOneHas() throws {
        let scene = try CatalogScene()
        for organization in [Int64(1), 1, 1, 2] {
            var object = scene.newObject(size: 1, organization: organization)
            object.description = CatalogObject.Description(
                name: FileName(verbatim: "a.mcap"), contentType: "", crc64: 1)
            try scene.database.writeBlocking { [object] in try ObjectRecords($0).insert(object, tags: [:]) }
        }
        var order: [Int64] = []
        var positions: [Int64] = []
        while let next = try scene.database.readBlocking({ [last = order.last ?? 0] in
            try RecordingRecords($0).next(afterOrganization: last)
        }) {
            order.append(next.object.owner.organizationID)
            positions.append(next.position)
            try scene.database.writeBlocking { try RecordingRecords($0).finish(position: next.position, nil) }
        }
        #expect(order == [1, 2, 1, 1])
        // The newest of an organization is first.
        #expect(positions == [3, 4, 2, 1])
    }
}
