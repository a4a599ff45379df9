import Basics
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import StoreClient

@Suite(.timeLimited) struct PartialFileTests {
    private let path = FileManager.default.temporaryDirectory.appending(path: "partial-\(UUID().uuidString)").path

    /// A disk, represented by fsync(2).
    private final class Disk: Sendable {
        let isBroken = Lock(false)

        @Sendable func synchronize(_ descriptor: Int32) -> Int32 {
            guard isBroken.withLock({ $0 }) else { return fsync(descriptor) }
            errno = EIO
            return -1
        }
    }

    private func append(_ text: String, to file: PartialFile) throws {
        try Array(text.utf8).withUnsafeBytes { try file.append($0) }
    }

    @Test func goesOnFromTheBytesOfAnEarlierRun() throws {
        defer { unlink(path) }
        try append("abc", to: PartialFile(path))
        let file = try PartialFile(path)
        #expect(file.size == 3)
        try append("def", to: file)
        try file.finish(as: path + ".whole")
        defer { unlink(path + ".whole") }
        #expect(FileManager.default.contents(atPath: path + ".whole") == Data("abcdef".utf8))
    }

    @Test func keepsNothingThatCannotBeMadeDurable() throws {
        defer { unlink(path) }
        let disk = Disk()
        let file = try PartialFile(path, synchronize: disk.synchronize)
        try append("abc", to: file)
        disk.isBroken.withLock { $0 = true }
        #expect(throws: PartialFile.Failure.self) { try file.finish(as: path + ".whole") }
        #expect(file.size == 0)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == 0)
        #expect(!FileManager.default.fileExists(atPath: path + ".whole"))
    }

    @Test func beginsAnewWhereTheBytesOfAnEarlierRunCannotBeMadeDurable() throws {
        defer { unlink(path) }
        try append("abc", to: PartialFile(path))
        let disk = Disk()
        disk.isBroken.withLock { $0 = true }
        #expect(try PartialFile(path, synchronize: disk.synchronize).size == 0)
    }

    @Test(arguments: [1, 100, 233, 234, 250, 255])
    func namesFitInAFolderAndDifferBetweenObjects(length: Int) {
        for letter in ["k", "é", "測"] {
            let name = String(repeating: letter, count: length / letter.utf8.count)
            let partial = PartialFile.name(for: name, of: "1")
            #expect(partial.utf8.count <= 255 && partial.hasSuffix(".part") && partial != name)
            #expect(partial.hasPrefix(name.prefix(200 / letter.utf8.count)))
            #expect(partial == PartialFile.name(for: name, of: "1"))
            #expect(partial != PartialFile.name(for: name, of: "2"))
        }
    }

    @Test func tellsWhetherOtherFilesWouldFailToo() {
        func failure(_ code: Int32, exists: Bool = false) -> PartialFile.Failure {
            errno = code
            return .last("write", "a", exists: exists)
        }
        for code in [ENOSPC, EROFS, EACCES] { #expect(failure(code).concernsAll) }
        for code in [ENAMETOOLONG, EISDIR, ELOOP] { #expect(!failure(code).concernsAll) }
        #expect(failure(ENOSPC, exists: true).concernsAll)
        #expect(!failure(EACCES, exists: true).concernsAll)
    }

    @Test func messagesHaveThePathForPeople() throws {
        let error = #expect(throws: PartialFile.Failure.self) {
            try PartialFile("\(path)/a", shownAs: "down/a")
        }
        #expect(error?.message == "cannot write down/a: No such file or directory")
    }
}
