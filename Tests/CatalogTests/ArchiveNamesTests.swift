import Basics
import TestSupport
import Testing

@testable import Catalog

@Suite(.timeLimited) struct ArchiveNamesTests {
    private func object(
        _ name: String, device: String? = "261121-000001", recordedFrom: UnixTime? = nil
    ) -> CatalogObject {
        let time = UnixTime(seconds: 1_795_305_600)
        var object = CatalogObject(
            id: "id", fileID: "file", uploadID: "upload",
            owner: ObjectOwner(organizationID: 1, siteID: 4, suiteID: nil, deviceID: device),
            content: CatalogObject.Content(bucket: "data", key: "key", size: 1, etag: "\"e\""),
            times: CatalogObject.Times(createdAt: time, uploadedAt: time, verifiedAt: time))
        object.description = CatalogObject.Description(
            name: FileName(verbatim: name), contentType: "", crc64: 1, recordedFrom: recordedFrom)
        return object
    }

    private func name(_ object: CatalogObject, _ names: inout ArchiveNames) -> ArchivedFile {
        names.name(object, name: object.name(tags: [:]), crc32: nil)
    }

    @Test func deviceAndTimePrecedeTheName() {
        var names = ArchiveNames()
        #expect(name(object("a.mcap"), &names).name == "261121-000001/2026-11-22T00-00-00Z-a.mcap")
        #expect(
            name(object("a.mcap", device: nil), &names).name
                == "site-4/2026-11-22T00-00-00Z-a.mcap")
        let recorded = name(object("a.mcap", recordedFrom: UnixTime(seconds: 60)), &names)
        #expect(recorded.name == "261121-000001/1970-01-01T00-01-00Z-a.mcap")
        #expect(recorded.time == UnixTime(seconds: 60))
    }

    @Test func equalNamesGetNumbersAlsoInAnotherCase() {
        var names = ArchiveNames()
        let found = ["a.tar.gz", "A.TAR.GZ", "a.tar.gz", "noextension", "noextension"].map {
            name(object($0), &names).name.dropFirst("261121-000001/2026-11-22T00-00-00Z-".count)
        }
        #expect(
            found == ["a.tar.gz", "A.TAR (2).GZ", "a.tar (3).gz", "noextension", "noextension (2)"])
    }
}
