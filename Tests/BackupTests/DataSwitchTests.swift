import Basics
import Foundation
import TestSupport
import Testing

@testable import Backup

/// The replacement of a data directory's contents, interrupted after any of its renames.
@Suite(.timeLimited) struct DataSwitchTests {
    let scratch = Scratch()
    private static let old = ["store", "keys", "gateway.db", "gateway.db-wal", "initial-admin-password"]
    private static let new = ["store", "keys", "gateway.db"]

    /// Makes a data directory with old and new data, each file of which contains its origin.
    private func directory(_ name: String) throws -> String {
        let path = try scratch.folder(name, files: [])
        try FileManager.default.createDirectory(atPath: path + "/restore/new", withIntermediateDirectories: true)
        for (folder, names, text) in [(path, Self.old, "old"), (path + "/restore/new", Self.new, "new")] {
            for name in names { try text.write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8) }
        }
        return path
    }

    private func contents(_ folder: String) throws -> [String: String] {
        var found: [String: String] = [:]
        for name in DataSwitch.names {
            guard let bytes = try PrivateFile.read("\(folder)/\(name)") else { continue }
            found[name] = String(decoding: bytes, as: UTF8.self)
        }
        return found
    }

    private func makeSwitch(in path: String) throws -> DataSwitch {
        let request = RestoreRequest(source: .archive, requestedBy: "user:system/admin")
        return try DataSwitch(
            from: "restore/new", to: "previous-1", in: path,
            result: RestoreResult(request, at: UnixTime(seconds: 1)))
    }

    @Test(arguments: 0...8) func anInterruptedSwitchIsCompleted(renames: Int) throws {
        let path = try directory("data")
        let whole = try makeSwitch(in: path)
        #expect(Set(whole.installed) == Set(Self.new))
        let moves =
            DataSwitch.names.filter(Self.old.contains).map { (path, path + "/previous-1", $0) }
            + DataSwitch.names.filter(Self.new.contains).map { (path + "/restore/new", path, $0) }
        #expect(moves.count == 8)
        try FileManager.default.createDirectory(atPath: path + "/previous-1", withIntermediateDirectories: true)
        for (source, target, name) in moves.prefix(renames) {
            try FileManager.default.moveItem(atPath: "\(source)/\(name)", toPath: "\(target)/\(name)")
        }
        for _ in 0..<2 { try whole.run(in: path) }
        #expect(try contents(path) == Dictionary(uniqueKeysWithValues: Self.new.map { ($0, "new") }))
        #expect(try contents(path + "/previous-1") == Dictionary(uniqueKeysWithValues: Self.old.map { ($0, "old") }))
        #expect(try contents(path + "/restore/new").isEmpty)
    }

    /// After a power loss during the switch, a file may have both names of its rename: the old and the new.
    @Test(arguments: [false, true]) func aFileAtBothNamesIsMoved(isInstalled: Bool) throws {
        let path = try directory("data")
        let whole = try makeSwitch(in: path)
        let previous = path + "/previous-1"
        try FileManager.default.createDirectory(atPath: previous, withIntermediateDirectories: true)
        for name in Self.old {
            try FileManager.default.linkItem(atPath: "\(path)/\(name)", toPath: "\(previous)/\(name)")
        }
        for name in Self.new where isInstalled {
            try FileManager.default.removeItem(atPath: "\(path)/\(name)")
            try FileManager.default.linkItem(atPath: "\(path)/restore/new/\(name)", toPath: "\(path)/\(name)")
        }
        try whole.run(in: path)
        #expect(try contents(path + "/restore/new").isEmpty)
        #expect(try contents(path) == Dictionary(uniqueKeysWithValues: Self.new.map { ($0, "new") }))
        #expect(try contents(path + "/previous-1") == Dictionary(uniqueKeysWithValues: Self.old.map { ($0, "old") }))
    }

    @Test func anUnmovableNamePutsEverythingBack() throws {
        let path = try directory("data")
        let whole = try makeSwitch(in: path)
        // A folder in the way of a file: the rename of the database fails after those of the store and the keys.
        try FileManager.default.createDirectory(
            atPath: path + "/previous-1/gateway.db", withIntermediateDirectories: true)
        let before = try contents(path)
        #expect(throws: (any Error).self) { try whole.run(in: path) }
        for name in ["store", "keys"] { #expect(try contents(path)[name] == before[name]) }
        #expect(try contents(path + "/restore/new").count == Self.new.count)
    }

    @Test(arguments: ["store", "keys", "gateway.db"]) func incompleteDataAreNotPutInPlace(missing: String) throws {
        let path = try directory("data")
        try FileManager.default.removeItem(atPath: "\(path)/restore/new/\(missing)")
        #expect(throws: DataDirectory.Problem.self) { try makeSwitch(in: path) }
    }

    @Test func namesThatCannotBeLookedUpAreNotTakenForMissing() throws {
        let path = try directory("data")
        let whole = try makeSwitch(in: path)
        // A file in the place of the folder: every name in it is looked up in vain, and not because it is missing.
        try FileManager.default.removeItem(atPath: path + "/restore/new")
        try Data().write(to: URL(filePath: path + "/restore/new"))
        #expect(throws: (any Error).self) { try makeSwitch(in: path) }
        #expect(throws: (any Error).self) { try whole.run(in: path) }
        #expect(try contents(path) == Dictionary(uniqueKeysWithValues: Self.old.map { ($0, "old") }))
    }

    @Test func aFailedRestoreReleasesItsSpaceBeforeItWritesItsResult() throws {
        let path = try scratch.folder("full", files: [])
        let folder = RestoreFolder(directory: path)
        try folder.make()
        try folder.request.write(RestoreRequest(source: .archive, requestedBy: "x"), in: folder)
        // The result cannot be written, as on a full disk.
        _ = try scratch.folder("full/restore/outcome", files: ["file"])
        #expect(throws: (any Error).self) {
            try RequestedRestore(folder: folder, migrations: [], now: UnixTime(seconds: 9), log: .discarding).run()
        }
        #expect(!DataDirectory.exists(folder.new))
        #expect(try RequestedRestore.isPending(in: path))
    }

    @Test func aCompletedRestoreReleasesItsSpaceBeforeItWritesItsResult() throws {
        let path = try directory("data")
        let folder = RestoreFolder(directory: path)
        try folder.switching.write(try makeSwitch(in: path), in: folder)
        try Data().write(to: URL(filePath: folder.archive))
        _ = try scratch.folder("data/restore/outcome", files: ["file"])
        let restore = RequestedRestore(folder: folder, migrations: [], now: UnixTime(seconds: 9), log: .discarding)
        #expect(throws: (any Error).self) { try restore.run() }
        #expect(!DataDirectory.exists(folder.archive) && !DataDirectory.exists(folder.new))
        // A later start, with space, completes it.
        try FileManager.default.removeItem(atPath: folder.path + "/outcome")
        try restore.run()
        #expect(try folder.outcome.read(in: folder)?.failure == nil)
        #expect(try !RequestedRestore.isPending(in: path))
        #expect(try contents(path) == Dictionary(uniqueKeysWithValues: Self.new.map { ($0, "new") }))
    }

    @Test func aRequestThatCannotBeLookedUpIsNotTakenForNone() throws {
        let path = try scratch.folder("unreadable", files: ["restore"])
        #expect(throws: PrivateFile.Failure.self) { try RequestedRestore.isPending(in: path) }
        let restore = RequestedRestore(
            folder: RestoreFolder(directory: path), migrations: [], now: UnixTime(seconds: 9), log: .discarding)
        #expect(throws: (any Error).self) { try restore.run() }
    }

    @Test func aRequestIsFollowedOnlyByTheStart() throws {
        let path = try scratch.folder("empty", files: [])
        let folder = RestoreFolder(directory: path)
        #expect(try !RequestedRestore.isPending(in: path))
        try folder.make()
        try folder.request.write(RestoreRequest(source: .previous("previous-1"), requestedBy: "x"), in: folder)
        #expect(try RequestedRestore.isPending(in: path))
        // The named data do not exist: nothing is replaced, and the reason is kept.
        try RequestedRestore(folder: folder, migrations: [], now: UnixTime(seconds: 9), log: .discarding).run()
        #expect(try !RequestedRestore.isPending(in: path))
        let result = try #require(try folder.outcome.read(in: folder))
        #expect(result.failure?.contains("previous-1 is incomplete") == true)
        #expect(result.finishedAt == 9)
    }
}
