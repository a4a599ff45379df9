import Basics
import Glibc
import TestSupport
import Testing

/// Files that are read whole, and what is said of those that cannot be read.
@Suite(.timeLimited) struct PrivateFileTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder(inMemory: true)
    }

    @Test func contentsAreThoseOfTheFile() throws {
        let path = folder.path + "/file"
        let bytes = [UInt8](repeating: 7, count: 100_000)
        try PrivateFile.write(bytes, to: path)
        #expect(try PrivateFile.contents(of: path) == bytes)
        #expect(try PrivateFile.read(path) == bytes)
    }

    @Test func missingFileIsAnAbsenceOrAFailure() throws {
        let path = folder.path + "/nothing"
        #expect(try PrivateFile.read(path) == nil)
        #expect {
            try PrivateFile.contents(of: path)
        } throws: {
            "\($0)" == "\(path): No such file or directory"
        }
    }

    @Test func fileThatCannotBeReadIsAFailureWithItsReason() {
        for read in [{ try PrivateFile.read($0) }, { try PrivateFile.contents(of: $0) }]
            as [(String) throws -> [UInt8]?]
        {
            #expect {
                try read(folder.path)
            } throws: {
                "\($0)" == "\(folder.path): Is a directory"
            }
        }
    }

    @Test func removalTakesFilesLinksAndFoldersWithTheirContent() throws {
        let (file, outside) = (folder.path + "/file", folder.path + "/outside")
        let tree = folder.path + "/tree"
        try PrivateFile.write([1], to: file)
        try PrivateFile.makeFolders(tree + "/a/b")
        try PrivateFile.makeFolder(outside)
        try PrivateFile.write([1], to: tree + "/a/b/file")
        try PrivateFile.write([1], to: outside + "/kept")
        #expect(symlink(outside, tree + "/a/link") == 0)
        try PrivateFile.remove(file)
        try PrivateFile.remove(tree)
        #expect(try !PrivateFile.exists(file) && !PrivateFile.exists(tree))
        #expect(try PrivateFile.exists(outside + "/kept"))
        #expect {
            try PrivateFile.remove(tree)
        } throws: {
            "\($0)" == "\(tree): No such file or directory"
        }
    }

    @Test func sizeIsTheNumberOfBytes() throws {
        let path = folder.path + "/file"
        try PrivateFile.write([UInt8](repeating: 7, count: 70_000), to: path)
        #expect(try PrivateFile.size(of: path) == 70_000)
    }
}
