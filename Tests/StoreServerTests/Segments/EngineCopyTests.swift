import Basics
import Database
import Foundation
import HTTPTestClient
import S3Engine
import StoreTesting
import TestSupport
import Testing

@testable import DirectoryEngine
@testable import EngineCopy
@testable import ObjectStore

/// The copy of all objects from a directory to a bucket and back.
@Suite(.timeLimited) struct EngineCopyTests {
    private let folder: TestFolder
    private let bucket: S3Engine
    private let store: TestStore

    init() throws {
        folder = try TestFolder(inMemory: true)
        bucket = try TestBucket.makeEngine(spoolFolder: folder.path)
        store = try TestStore(.directory)
        store.anySizes()
    }

    private var copy: EngineCopy {
        get throws { try #require(store.pairedEngines.copy) }
    }

    private func dataFiles() throws -> [String] {
        let directory = try DirectoryEngine(path: store.directory.appending(path: "store").path)
        return try DirectoryEngine.folders.flatMap { try directory.files(inFolder: $0).map(\.fileID) }
    }

    private func keys() throws -> [String] {
        try #require(TestBucket.of(bucket)).keys().filter { $0.contains("/data/") }
    }

    private func file(of name: String) throws -> String { try #require(store.snapshot(name).object).fileID }

    /// Copies everything; no upload is in progress.
    private func copyAll() async throws {
        try await copy.begin()
        try copy.drain()
        #expect(try copy.progress.phase == .complete)
        #expect(try copy.progress.remainingObjects == 0)
    }

    private func fill() throws -> [String: [UInt8]] {
        var bodies = ["upload-1": content(300_000), "upload-2": [], "upload-3": [7]]
        for (name, body) in bodies { #expect(try store.client(uploadID: name).put(body).status == 200) }
        let client = store.client(uploadID: "upload-4")
        let id = try client.initiate()
        let parts = (1...3).map { content(70_000, seed: UInt64($0)) }
        for (number, part) in parts.enumerated() { #expect(try client.part(number + 1, of: id, part).status == 200) }
        #expect(try client.completeAll(id).status == 200)
        bodies["upload-4"] = Array(parts.joined())
        try store.copy("upload-4", to: "upload-5")
        bodies["upload-5"] = bodies["upload-4"]
        return bodies
    }

    private func check(_ bodies: [String: [UInt8]]) throws {
        for (name, body) in bodies { #expect(try store.client(uploadID: name).get() == body, "\(name)") }
        #expect(try store.files().count == bodies.count)
    }

    @Test func objectsAreCopiedThereAndBack() async throws {
        var bodies = try fill()
        let etag = try store.client(uploadID: "upload-4").send("GET").fields["etag"]
        let described = try file(of: "upload-1")
        try await store.store.describe(described, Array("facts".utf8))
        try store.restart(isClean: true, with: store.pair(bucket, target: .s3))
        try check(bodies)
        #expect(try store.client(uploadID: "upload-6").put([1, 2, 3]).status == 200)
        bodies["upload-6"] = [1, 2, 3]
        #expect(try keys().count == 1)
        try await copyAll()
        #expect(try store.database.readBlocking { try StoreRecords($0).directoryHoldsBytes() } == false)
        #expect(try dataFiles().isEmpty)
        try check(bodies)
        for engine in [nil, bucket] as [S3Engine?] {
            try store.restart(isClean: engine == nil, with: engine)
            try check(bodies)
            #expect(store.store.facts(of: described) == Array("facts".utf8))
        }

        try store.restart(with: store.pair(bucket, target: .directory))
        try await copyAll()
        try check(bodies)
        #expect(try keys().isEmpty)
        try store.restart(with: DirectoryEngine(path: store.directory.appending(path: "store").path))
        try check(bodies)
        #expect(store.store.facts(of: described) == Array("facts".utf8))
        #expect(try store.client(uploadID: "upload-4").send("GET").fields["etag"] == etag)
    }

    @Test func directoryMayComeAfterABucket() async throws {
        let store = try TestStore(inMemory: true, engine: bucket)
        #expect(try store.client().put(content(300_000)).status == 200)
        try store.restart(isClean: true, with: store.pair(bucket, target: .directory))
        #expect(!store.store.isForeign)
        let copy = try #require(store.pairedEngines.copy)
        try await copy.begin()
        copy.drain()
        #expect(copy.progress.phase == .complete)
        #expect(try store.client().get() == content(300_000))
        // Its files are missing now, so the database is not used with an empty directory.
        try FileManager.default.removeItem(at: store.directory.appending(path: "store"))
        try store.restart(with: store.pair(bucket, target: .directory))
        #expect(store.store.isForeign)
    }

    @Test func uploadEndsWhereItBegan() async throws {
        let client = store.client()
        let id = try client.initiate()
        let parts = [content(100_000), content(50_000, seed: 2)]
        #expect(try client.part(1, of: id, parts[0]).status == 200)
        try store.restart(isClean: true, with: store.pair(bucket, target: .s3))
        let copy = try copy
        try await copy.begin()
        try waitUntil { copy.progress.phase == .waitingForUploads }
        #expect(copy.progress.remainingUploads == 1)
        let restarted = store.client()
        #expect(try restarted.part(2, of: id, parts[1]).status == 200)
        #expect(try restarted.completeAll(id).status == 200)
        copy.drain()
        #expect(copy.progress.phase == .complete)
        #expect(try dataFiles().isEmpty)
        #expect(try store.client().get() == Array(parts.joined()))
    }

    /// A process that ended between the commit and the removal left the bytes in the directory.
    @Test func copiedFileThatStayedIsRemovedAtTheNextStart() async throws {
        let bodies = try fill()
        let file = try file(of: "upload-1")
        try store.restart(isClean: true, with: store.pair(bucket, target: .s3))
        try await copyAll()
        try store.restart(with: store.pair(bucket, target: .s3)) {
            try Data(content(300_000)).write(to: URL(filePath: store.path(file)))
        }
        #expect(try dataFiles().isEmpty)
        #expect(store.store.reconciliation.lost == 0)
        try check(bodies)
    }

    @Test func corruptedObjectStaysWhereItIs() async throws {
        var bodies = try fill()
        let file = try file(of: "upload-1")
        try store.restart(isClean: true, with: store.pair(bucket, target: .s3)) {
            var damaged = content(300_000)
            damaged[5] ^= 1
            try FileManager.default.removeItem(atPath: store.path(file))
            try Data(damaged).write(to: URL(filePath: store.path(file)))
        }
        let copy = try copy
        try await copy.begin()
        copy.drain()
        #expect(copy.progress.phase == .failed)
        #expect(copy.progress.failures.map(\.place.uploadID) == ["upload-1"])
        #expect(try dataFiles() == [file])
        bodies["upload-1"] = nil
        for (name, body) in bodies { #expect(try store.client(uploadID: name).get() == body) }
        // Its segments are removed.
        #expect(try store.files().count == bodies.count + 1)
    }

    /// The reader gets the bytes that it began with, wherever they are copied.
    @Test(arguments: [ObjectEngineKind.s3, .directory]) func readerKeepsItsBytes(target: ObjectEngineKind) async throws
    {
        let body = content(900_000)
        if target == .s3 {
            #expect(try store.client().put(body).status == 200)
            try store.restart(isClean: true, with: store.pair(bucket, target: .s3))
        } else {
            try store.restart(isClean: true, with: store.pair(bucket, target: .s3))
            #expect(try store.client().put(body).status == 200)
            try store.restart(isClean: true, with: store.pair(bucket, target: .directory))
        }
        let object = try #require(store.snapshot().object)
        let bytes = try store.store.open(object)
        var read: [UInt8] = []
        try await copyAll()
        store.store.work.removals.resume()
        store.store.work.removals.drain()
        try bytes.forEachPiece { read += $0 }
        #expect(read == body)
        #expect(try store.client().get() == body)
    }

    /// Nothing is left of a layout that was not recorded, and nothing is removed that was.
    @Test func layoutThatIsNotRecordedIsRemoved() async throws {
        try store.restart(isClean: true, with: store.pair(bucket, target: .s3))
        #expect(try store.client().put(content(300_000)).status == 200)
        let object = try #require(store.snapshot().object)
        let file = StoredFile(fileID: object.fileID, size: object.size, crc64: object.crc64)
        let place = StoredObject.Place(bucket: object.bucket, key: object.key, uploadID: object.uploadID)
        do {
            let layout = try bucket.makeLayout(of: file, at: place)
            try layout.store(bucket.open(object.fileID), isDamaged: false) { true }
            store.store.work.removals.resume()
            store.store.work.removals.drain()
            #expect(try keys().count == 2)
        }
        #expect(try store.files().count == 1)
        #expect(try keys().count == 1)
    }
}
