import Basics
import Catalog
import Database
import GatewayFormats
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import Uploads

/// The answers to a device that asks which of its files it uploaded before.
@Suite(.timeLimited) struct StoredFilesTests {
    let scene: Scene
    let device: Caller

    init() throws {
        scene = try Scene()
        device = try scene.device()
    }

    /// Uploads a file of 1000 bytes with CRC-64 1, and returns its file id.
    @discardableResult
    private func upload(_ name: String, path: String? = nil, by caller: Caller? = nil) async throws -> String {
        let caller = caller ?? device
        var hints = ["file_name": name]
        hints["relative_path"] = path
        let created = try await caller.create(hints: hints)
        try await caller.complete(try scene.store(created.uploadID))
        return Scene.fileID(created.uploadID)
    }

    private func status(of file: LocalFile, for caller: Caller? = nil) async throws -> StoredFileStatus {
        try #require(try await (caller ?? device).find([file]).files.first).status
    }

    private func file(_ name: String, path: String = "", crc64: String = "1", size: Int64 = 1000) -> LocalFile {
        LocalFile(sizeBytes: size, crc64Ecma: crc64, fileName: name, relativePath: path)
    }

    private func change(_ fileID: String, _ set: String) throws {
        try scene.database.writeBlocking { _ = try $0.execute("UPDATE objects SET \(set) WHERE file_id = $1", fileID) }
    }

    @Test func fileIsStoredUnderItsPathOnly() async throws {
        let fileID = try await upload("a.mcap", path: "run 1/a.mcap")
        let response = try #require(try await device.find([file("a.mcap", path: "run 1/a.mcap")]).files.first)
        #expect(response.status == .stored && response.fileID == fileID && response.crc64Ecma == "1")
        #expect(response.verifiedAtUnix == scene.clock.now().seconds)
        for other in [
            file("a.mcap"), file("a.mcap", path: "run 2/a.mcap"), file("b.mcap", path: "run 1/b.mcap"),
            file("a.mcap", path: "run 1/a.mcap", crc64: "2"), file("a.mcap", path: "run 1/a.mcap", size: 999),
        ] {
            #expect(try await status(of: other) == .unknown)
        }
    }

    @Test func fileWithoutFolderIsTheOneAtTheRootOfAFolder() async throws {
        try await upload("back\\slash .txt")
        #expect(try await status(of: file("back\\slash .txt")) == .stored)
        #expect(try await status(of: file("slash .txt")) == .stored)
        #expect(try await status(of: file("x", path: "slash .txt")) == .stored)
    }

    @Test func answersKeepTheOrderOfTheFiles() async throws {
        let ids = [try await upload("0.txt"), try await upload("1.txt")]
        let responses = try await device.find([file("1.txt"), file("none.txt"), file("0.txt")]).files
        #expect(responses.map(\.fileID) == [ids[1], "", ids[0]])
    }

    @Test func filesOfOthersAreUnknown() async throws {
        let fileID = try await upload("a.mcap")
        let others = [try scene.device(2), try scene.site(1), try scene.device(1, site: 3, organization: 2)]
        for other in others {
            #expect(try await status(of: file("a.mcap"), for: other) == .unknown)
            let identified = LocalFile(sizeBytes: 1000, crc64Ecma: "1", fileID: fileID)
            #expect(try await status(of: identified, for: other) == .unknown)
        }
        try await upload("of the site.txt", by: others[1])
        #expect(try await status(of: file("of the site.txt"), for: others[1]) == .stored)
        #expect(try await status(of: file("of the site.txt")) == .unknown)
    }

    @Test func fileIDCountsUnderAnyPath() async throws {
        let fileID = try await upload("a.mcap")
        var moved = file("b.mcap", path: "new/b.mcap")
        moved.fileID = fileID
        #expect(try await status(of: moved) == .stored)
        moved.crc64Ecma = "2"
        #expect(try await status(of: moved) == .unknown)
    }

    @Test func fileInTheTrashIsDeletedUntilItIsThereAgain() async throws {
        let fileID = try await upload("a.mcap")
        try change(fileID, "trashed_at = 1")
        #expect(try await status(of: file("a.mcap")) == .deleted)
        #expect(try await status(of: file("a.mcap", crc64: "")) == .deleted)
        try await upload("a.mcap")
        #expect(try await status(of: file("a.mcap")) == .stored)
    }

    @Test func corruptedFileIsToBeSentAgain() async throws {
        let fileID = try await upload("a.mcap")
        try change(fileID, "bad_at = 1")
        #expect(try await status(of: file("a.mcap")) == .corrupted)
        try await upload("a.mcap")
        #expect(try await status(of: file("a.mcap")) == .stored)
    }

    @Test func unknownBytesAreComparedWithTheNewestOfThePath() async throws {
        try change(try await upload("a.mcap"), "crc64 = 7")
        try change(try await upload("a.mcap"), "crc64 = -1")
        let response = try #require(try await device.find([file("a.mcap", crc64: "")]).files.first)
        #expect(response.status == .stored && response.crc64Ecma == "18446744073709551615")
        #expect(try await status(of: file("a.mcap", crc64: "7")) == .stored)
        #expect(try await status(of: file("a.mcap", crc64: "18446744073709551615")) == .stored)
    }

    /// An object of a version that kept no checksums.
    @Test func objectWithoutChecksumIsFoundByItsIDOnly() async throws {
        let fileID = try await upload("a.mcap")
        try change(fileID, "crc64 = NULL")
        #expect(try await status(of: file("a.mcap")) == .unknown)
        #expect(try await status(of: file("a.mcap", crc64: "")) == .unknown)
        var identified = file("a.mcap")
        identified.fileID = fileID
        #expect(try await status(of: identified) == .stored)
    }

    @Test func deletionsAreKnownForTheRetentionOfRecords() async throws {
        let response = try await device.find([file("a.mcap")])
        let since = scene.clock.now().subtracting(scene.configuration.recordRetention)
        #expect(response.deletionsKnownSinceUnix == since.seconds)
    }

    @Test func malformedRequestsNameTheField() async throws {
        let wrong: [(LocalFile, String)] = [
            (file("a", size: -1), "files[1].size_bytes"), (file("a", crc64: "-1"), "files[1].crc64_ecma"),
            (file("a", path: "../a"), "files[1].relative_path"),
            (LocalFile(fileID: String(repeating: "x", count: 129)), "files[1].file_id"),
        ]
        for (file, field) in wrong {
            let error = await #expect(throws: RPCError.self) { try await device.find([LocalFile(), file]) }
            #expect(error?.message.hasPrefix(field) == true, "\(error?.message ?? "no error")")
        }
        for count in [0, 1001] {
            let error = await #expect(throws: RPCError.self) {
                try await device.find(Array(repeating: LocalFile(), count: count))
            }
            #expect(error?.message == "files must have 1 to 1000 entries, not \(count)")
        }
    }
}
