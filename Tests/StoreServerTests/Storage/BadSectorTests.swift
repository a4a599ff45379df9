import Database
import Glibc
import StoreTesting
import TestSupport
import Testing

@testable import DirectoryEngine
@testable import ObjectStore

/// Every errno of a disk that lost data means that only this object is corrupted.
@Suite(.timeLimited, .onDirectory) struct BadSectorTests {
    private static let damage = [EIO, ENODATA, EILSEQ, EUCLEAN, EBADMSG]
    private let sectors = BadSectors()
    private let store: TestStore

    init() throws {
        var files = DirectoryConfiguration()
        files.calls = sectors.calls
        store = try TestStore(files: files)
    }

    /// Puts an object of this size.
    private func object(bytes: Int, uploadID: String = "upload-1") throws -> StoredObject {
        _ = try store.client(uploadID: uploadID).put(content(bytes))
        return try #require(try store.snapshot(uploadID).object)
    }

    private func file(_ object: StoredObject) -> StoredFile {
        StoredFile(fileID: object.fileID, size: object.size, crc64: object.crc64)
    }

    private func offline() -> OfflineStore {
        OfflineStore(directory: store.store.data.path, calls: sectors.calls)
    }

    @Test(arguments: damage)
    func unreadableObjectIsBad(error: Int32) async throws {
        let object = try object(bytes: 1000)
        sectors.add(object.fileID, error: error)
        let condition = try await store.store.examine(uploadID: object.uploadID) { _ in }
        #expect(condition == .bad("the disk cannot read it (\(String(cString: strerror(error))))"))
    }

    @Test func otherFailuresSayNothingAboutTheObject() async throws {
        let object = try object(bytes: 1000)
        sectors.add(object.fileID, error: EINVAL)
        await #expect(throws: StorageFailure.other(errno: EINVAL)) {
            try await store.store.examine(uploadID: object.uploadID) { _ in }
        }
        #expect(throws: StorageFailure.other(errno: EINVAL)) { try offline().holds(file(object)) }
    }

    @Test(arguments: damage)
    func unreadableRestIsReadAsZeros(error: Int32) throws {
        let size = 1_000_000
        let object = try object(bytes: size)
        sectors.add(object.fileID, offset: 600_000, error: error)
        var (begun, bytes) = (0, [UInt8]())
        let isIntact = try store.store.read(file(object), begin: { begun += 1 }) { bytes += $0 }
        #expect(isIntact == false)
        #expect(begun == 1)
        // Pieces have 256 KiB: the two before the bad one are sent.
        #expect(bytes == content(size).prefix(2 << 18) + [UInt8](repeating: 0, count: size - (2 << 18)))
    }

    @Test func contentsOfAnUnreadableObjectAreNone() async throws {
        let object = try object(bytes: 1000)
        sectors.add(object.fileID, error: ENODATA)
        #expect(try await store.store.contents(of: object) == nil)
    }

    @Test(arguments: damage)
    func comparisonNamesTheObjectAndGoesOn(error: Int32) throws {
        let objects = try (1...3).map { try object(bytes: 1000 * $0, uploadID: "upload-\($0)") }
        sectors.add(objects[0].fileID, error: error)
        sectors.add(objects[1].fileID, offset: 500, error: error)
        var findings: [StoreFinding] = []
        try store.database.readBlocking { connection in
            try offline().compare(with: connection, checksums: true) { findings.append($0) }
        }
        let damaged = objects.prefix(2).sorted { $0.fileID < $1.fileID }.map { StoreFinding.damaged(file($0)) }
        #expect(findings == damaged)
        #expect(try offline().holds(file(objects[2])))
    }

    /// A failed write is a failure of the disk, not of an object.
    @Test(arguments: damage)
    func failedWriteIsNotDamage(error: Int32) {
        errno = error
        #expect(StorageFailure.last() == .other(errno: error))
    }
}
