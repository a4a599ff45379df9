import Foundation
import TestSupport
import Testing

@testable import Backup

/// The folders that are accepted as data directories, and the unchanged contents of those that are refused.
@Suite(.timeLimited) struct DataDirectoryTests {
    let scratch = Scratch()

    @Test func aMissingFolderIsMadeWithItsParents() throws {
        let path = scratch.path + "/a/b/c"
        let directory = try DataDirectory.forServing(path)
        #expect(directory.isNew)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o700)
    }

    @Test func anEmptyFolderAndAnUnfinishedFirstStartAreTaken() throws {
        for (index, leftovers) in [[], ["lost+found"], ["lock", "format.77.new"], ["format", "keys"]].enumerated() {
            let path = try scratch.folder("\(index)", files: leftovers.filter { $0 != "format" })
            if leftovers.contains("format") {
                try DataDirectory.format.write(toFile: path + "/format", atomically: false, encoding: .utf8)
            }
            #expect(try DataDirectory.forServing(path).isNew)
        }
    }

    @Test(arguments: [["holiday.jpg"], ["keys"], [".bashrc", "Documents"]])
    func aFolderWithAnythingElseIsRefusedAndStaysAsItIs(files: [String]) throws {
        let path = try scratch.folder("home", files: files)
        #expect {
            try DataDirectory.forServing(path)
        } throws: { "\($0)".contains("is not empty") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == files.sorted())
    }

    @Test func aFolderIsHeldByOne() throws {
        let path = scratch.path + "/data"
        let first = try DataDirectory.forServing(path)
        #expect {
            try DataDirectory.forServing(path)
        } throws: { "\($0)".contains("in use by another gateway") }
        withExtendedLifetime(first) {}
    }

    @Test func releasedFolderCanBeServedAgain() throws {
        let path = scratch.path + "/data"
        let first = try DataDirectory.forServing(path)
        first.release()
        #expect(try DataDirectory.forServing(path).path == path)
        withExtendedLifetime(first) {}
    }

    @Test func unfinishedRestoreIsNotServed() throws {
        let path = try scratch.folder("data", files: [])
        try FileManager.default.createDirectory(atPath: path + "/restoring", withIntermediateDirectories: false)
        #expect {
            try DataDirectory.forServing(path)
        } throws: { "\($0)".contains("did not finish") }
    }

    @Test func aDatabaseWithoutFormatIsNotServed() throws {
        let path = try scratch.folder("data", files: ["gateway.db"])
        #expect {
            try DataDirectory.forServing(path)
        } throws: { "\($0)".contains("format is missing") }
    }
}
